// SPDX-License-Identifier: MIT
#include "rpc/headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/testing/matchers.h"
#include "rpc/error_details.h"
#include "test/rpc/echo.pb.h"

namespace corolane::test {
namespace {

using rpc::Header;
using rpc::Headers;

constexpr Header<std::string_view> locale("locale");
constexpr Header<std::int32_t> tick("tick");
constexpr Header<bool> is_bot("is-bot");
constexpr Header<EchoRequest> greeting("greeting-bin");

TEST(HeadersTest, HoldValuesOfTheirTypes) {
  Headers headers;
  EXPECT_EQ(headers.get(locale), std::nullopt);
  headers.set(locale, "de");
  headers.set(tick, -17);
  headers.set(is_bot, true);
  EchoRequest request;
  request.set_text(std::string("a\0b", 3));
  headers.set(greeting, request);
  EXPECT_EQ(headers.get(locale), "de");
  EXPECT_EQ(headers.get(tick), -17);
  EXPECT_EQ(headers.get(is_bot), true);
  ASSERT_TRUE(headers.get(greeting));
  EXPECT_EQ(headers.get(greeting)->text(), request.text());
  EXPECT_TRUE(headers.check());
}

TEST(HeadersTest, SetReplacesAndAddKeepsAll) {
  Headers headers;
  headers.add("locale", "en");
  headers.add("tick", "1");
  headers.add("locale", "fr");
  EXPECT_EQ(headers.get(locale), "en");
  EXPECT_EQ(headers.size(), 3u);
  headers.set(locale, "de");
  EXPECT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers.get(locale), "de");
  EXPECT_EQ(headers.get(tick), 1);
  headers.remove("locale");
  EXPECT_FALSE(headers.contains("locale"));
}

TEST(HeadersTest, AValueOfAnotherTypeIsNone) {
  Headers headers;
  for (const char* const value : {"", "x", "1x", "4294967296", " 1"}) {
    headers.clear();
    headers.add("tick", value);
    EXPECT_EQ(headers.get(tick), std::nullopt) << value;
  }
  headers.add("is-bot", "yes");
  EXPECT_EQ(headers.get(is_bot), std::nullopt);
  headers.add("greeting-bin", "\xff");
  EXPECT_FALSE(headers.get(greeting));
}

TEST(HeadersTest, HeadersThatHttpCannotCarryAreRefused) {
  const auto check = [](std::string_view name, std::string_view value) {
    Headers headers;
    headers.add(name, value);
    return headers.check();
  };
  EXPECT_TRUE(check("a.b_c-1", ""));
  EXPECT_TRUE(check("any-bin", std::string_view("\0\xff\n", 3)));
  for (const char* const name : {"", "Upper", "a b", "a:b", "a\n"}) {
    EXPECT_THAT(check(name, "x"), fails_with(Code::invalid_argument)) << name;
  }
  for (const char* const value : {"a\nb", " a", "a ", "\xc3\xa4", "\x7f"}) {
    EXPECT_THAT(check("text", value), fails_with(Code::invalid_argument)) << value;
  }
  EXPECT_TRUE(check("text", std::string(Headers::bytes_max - 4, 'x')));
  EXPECT_THAT(check("text", std::string(Headers::bytes_max - 3, 'x')),
              fails_with(Code::resource_exhausted));
}

TEST(ErrorDetailsTest, AnErrorCarriesMessages) {
  EXPECT_TRUE(rpc::messages_of(Error(Code::aborted, "plain")).empty());
  EXPECT_TRUE(rpc::messages_of(Error(Code::aborted, "").with_detail("\xff")).empty());
  EchoRequest first;
  first.set_text("first");
  CountReply second;
  second.set_number(2);
  const Error error =
      rpc::with_message(rpc::with_message(Error(Code::aborted, "why"), first), second);
  EXPECT_EQ(error.message(), "why");
  ASSERT_EQ(rpc::messages_of(error).size(), 2u);
  EXPECT_EQ(rpc::messages_of(error)[0].type, "corolane.test.EchoRequest");
  ASSERT_TRUE(rpc::message_of<EchoRequest>(error));
  EXPECT_EQ(rpc::message_of<EchoRequest>(error)->text(), "first");
  ASSERT_TRUE(rpc::message_of<CountReply>(error));
  EXPECT_EQ(rpc::message_of<CountReply>(error)->number(), 2u);
  EXPECT_FALSE(rpc::message_of<CountRequest>(error));
}

}  // namespace
}  // namespace corolane::test
