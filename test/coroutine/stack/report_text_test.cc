// SPDX-License-Identifier: MIT
// The output of a handler of a fatal signal.
#include "coroutine/stack/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;
using testing::MatchesRegex;

TEST(ReportTextTest, PutsNumbersNamesAndTimesTogether) {
  ReportText text(-1);
  text.add("task ").add(17).add(" ").add_name("a\n\x1b\"").add(" ").add_hex(0x7f3a).add(" ");
  text.add_seconds(61'002ms).add(" ").add_seconds(-1ms).add(" ");
  text.add_time(std::chrono::sys_days(std::chrono::year(2026) / 3 / 9) + 1h + 2min + 3s + 45ms);
  EXPECT_EQ(text.view(), "task 17 \"a??\"\" 0x7f3a 61.002 s 0.000 s 2026-03-09T01:02:03.045Z");
}

TEST(ReportTextTest, ACodeAddressIsPrintedAsAnOffsetInItsFile) {
  ReportText text(-1);
  text.add_code_address(reinterpret_cast<std::uintptr_t>(&::getenv)).add(" ");
  text.add_code_address(1);
  EXPECT_THAT(std::string(text.view()), MatchesRegex("[a-z.0-9]+\\+0x[0-9a-f]+ 0x1"));
}

TEST(ReportTextTest, AFullBufferIsWrittenOutFirst) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ReportText text(ends[1]);
  const std::string much(3000, 'x');
  text.add(much).add("y");
  text.flush();
  EXPECT_EQ(text.view(), "");
  std::string read(4096, '\0');
  const auto size = ::read(ends[0], read.data(), read.size());
  EXPECT_EQ(read.substr(0, static_cast<std::size_t>(size)), much + "y");
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace corolane::coroutine
