// SPDX-License-Identifier: MIT
// The rules of https://www.w3.org/TR/trace-context/ for the header traceparent.
#include "rpc/trace_context.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "coroutine/testing/random.h"

namespace corolane::test {
namespace {

using rpc::format_traceparent;
using rpc::parse_traceparent;
using rpc::TraceContext;

// The example of the specification.
constexpr const char* example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

// The example with another text at an offset.
std::string with(std::size_t place, const std::string& text) {
  std::string changed = example;
  return changed.replace(place, text.size(), text);
}

TEST(TraceContextTest, AllPartsAreRead) {
  const auto trace = parse_traceparent(example);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->trace_id[0], std::byte{0x4b});
  EXPECT_EQ(trace->trace_id[15], std::byte{0x36});
  EXPECT_EQ(trace->span_id, 0x00f067aa0ba902b7u);
  EXPECT_TRUE(trace->is_sampled);
  EXPECT_EQ(rpc::trace_id_text(*trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(rpc::span_id_text(trace->span_id), "00f067aa0ba902b7");
}

TEST(TraceContextTest, FormattedTextIsReadBack) {
  EXPECT_EQ(format_traceparent(*parse_traceparent(example)), example);
  Random random;
  for (int i = 0; i < 1000; ++i) {
    TraceContext trace{.span_id = random.any() | 1, .is_sampled = random.one_in(2)};
    for (std::byte& byte : trace.trace_id) byte = static_cast<std::byte>(random.any());
    EXPECT_EQ(parse_traceparent(format_traceparent(trace)), trace);
  }
}

TEST(TraceContextTest, OnlyTheSampledFlagMeansSomething) {
  EXPECT_FALSE(parse_traceparent(with(53, "00"))->is_sampled);
  EXPECT_FALSE(parse_traceparent(with(53, "fe"))->is_sampled);
  EXPECT_TRUE(parse_traceparent(with(53, "ff"))->is_sampled);
}

TEST(TraceContextTest, AllZeroIdsAreInvalid) {
  EXPECT_FALSE(parse_traceparent(with(3, std::string(32, '0'))));
  EXPECT_FALSE(parse_traceparent(with(36, std::string(16, '0'))));
}

TEST(TraceContextTest, OnlyLowerCaseDigitsAreDigits) {
  for (const char* wrong : {"A", "F", "g", "G", " ", "-", "x"}) {
    for (const std::size_t place : {0u, 1u, 3u, 34u, 36u, 51u, 53u, 54u}) {
      EXPECT_FALSE(parse_traceparent(with(place, wrong))) << place << wrong;
    }
  }
  EXPECT_FALSE(parse_traceparent(with(10, std::string(1, '\0'))));
}

TEST(TraceContextTest, MisplacedDashesAreInvalid) {
  for (const std::size_t place : {2u, 35u, 52u}) {
    EXPECT_FALSE(parse_traceparent(with(place, "_"))) << place;
    EXPECT_FALSE(parse_traceparent(with(place, "0"))) << place;
  }
}

TEST(TraceContextTest, Version00HasItsLengthAndNoOther) {
  const std::string text = example;
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(parse_traceparent(text.substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_traceparent(text + "-"));
  EXPECT_FALSE(parse_traceparent(text + "-what-the-future-will-be-like"));
  EXPECT_FALSE(parse_traceparent(text + " "));
}

TEST(TraceContextTest, TheKnownPartOfFutureVersionsIsRead) {
  const auto known = parse_traceparent(example);
  EXPECT_EQ(parse_traceparent(with(0, "cc")), known);
  EXPECT_EQ(parse_traceparent(with(0, "01") + "-what-the-future-will-be-like"), known);
  EXPECT_FALSE(parse_traceparent(with(0, "01") + ".what-the-future-will-be-like"));
  EXPECT_FALSE(parse_traceparent(with(0, "01").substr(0, 54)));
}

TEST(TraceContextTest, VersionFfIsForbidden) { EXPECT_FALSE(parse_traceparent(with(0, "ff"))); }

}  // namespace
}  // namespace corolane::test
