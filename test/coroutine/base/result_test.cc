// SPDX-License-Identifier: MIT
#include "coroutine/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>

namespace corolane {
namespace {

Result<int> parse_digit(char text) {
  if (text < '0' || text > '9') return Error(Code::invalid_argument, "not a digit");
  return text - '0';
}

Result<std::string> repeat(char text) {
  auto count = parse_digit(text);
  if (!count) return count.error();
  return std::string(static_cast<std::size_t>(*count), text);
}

TEST(ResultTest, HoldsTheValueThatWasReturned) {
  const auto digit = parse_digit('7');
  ASSERT_TRUE(digit);
  EXPECT_EQ(*digit, 7);
}

TEST(ResultTest, AnErrorPassesThroughFunctionsOfOtherTypes) {
  const auto text = repeat('x');
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error(), Error(Code::invalid_argument, "not a digit"));
}

TEST(ResultTest, AVoidResultHasAValue) {
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(Error(Code::aborted, "")));
}

TEST(ResultTest, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> owner = std::make_unique<int>(3);
  const std::unique_ptr<int> moved = std::move(*owner);
  EXPECT_EQ(*moved, 3);
}

TEST(ResultTest, PrintsOkOrItsError) {
  std::ostringstream out;
  out << parse_digit('1') << ", " << parse_digit('x');
  EXPECT_EQ(out.str(), "ok, invalid_argument: not a digit");
}

TEST(ResultTest, EqualWhenBothHoldTheSame) {
  EXPECT_TRUE(Result<int>(3) == Result<int>(3));
  EXPECT_FALSE(Result<int>(3) == Result<int>(4));
  EXPECT_FALSE(Result<int>(3) == Result<int>(Error(Code::internal, "broken")));
  EXPECT_TRUE(Result<void>(Error(Code::internal, "broken")) ==
              Result<void>(Error(Code::internal, "broken")));
  EXPECT_FALSE(Result<void>() == Result<void>(Error(Code::internal, "broken")));
}

}  // namespace
}  // namespace corolane
