// SPDX-License-Identifier: MIT
#include "coroutine/base/try.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane {
namespace {

using test::fails_with;

Result<void> done(bool works) {
  if (works) return {};
  return Error(Code::not_found, "nothing");
}

Result<std::unique_ptr<std::string>> text(bool works) {
  if (works) return std::make_unique<std::string>("text");
  return Error(Code::unavailable, "later");
}

Result<int> try_both(bool first, bool second) {
  COROLANE_TRY(done(first));
  COROLANE_TRY(const std::unique_ptr<std::string> word, text(second));
  return static_cast<int>(word->size());
}

TEST(TryTest, ASuccessGoesOnAndAValueIsMoved) { EXPECT_EQ(try_both(true, true), Result<int>(4)); }

TEST(TryTest, AnErrorIsReturnedWhateverTheTypeOfTheResult) {
  EXPECT_THAT(try_both(false, true), fails_with(Code::not_found));
  EXPECT_THAT(try_both(true, false), fails_with(Code::unavailable));
}

Result<std::string> try_to_assign(bool works) {
  std::unique_ptr<std::string> word;
  COROLANE_TRY(word, text(works));
  return *word;
}

TEST(TryTest, AValueMayGoIntoAVariableThatExists) {
  EXPECT_EQ(try_to_assign(true), Result<std::string>("text"));
  EXPECT_THAT(try_to_assign(false), fails_with(Code::unavailable));
}

Result<void> try_in_a_branch(bool is_needed, bool works, int& other) {
  if (is_needed)
    COROLANE_TRY(done(works));
  else
    ++other;
  return {};
}

TEST(TryTest, ItIsOneStatement) {
  int other = 0;
  EXPECT_TRUE(try_in_a_branch(true, true, other));
  EXPECT_THAT(try_in_a_branch(true, false, other), fails_with(Code::not_found));
  EXPECT_EQ(other, 0);
  EXPECT_TRUE(try_in_a_branch(false, false, other));
  EXPECT_EQ(other, 1);
}

Result<int> try_in_a_lambda() {
  COROLANE_TRY(const int two, [&]() -> Result<int> {
    COROLANE_TRY(done(true));
    return 2;
  }());
  return two;
}

TEST(TryTest, ALambdaInsideMayUseItToo) { EXPECT_EQ(try_in_a_lambda(), Result<int>(2)); }

}  // namespace
}  // namespace corolane
