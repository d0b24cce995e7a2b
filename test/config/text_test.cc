// SPDX-License-Identifier: MIT
// Claims about config/detail/text.h.
#include "config/detail/text.h"

#include <gtest/gtest.h>

#include <string>

#include "coroutine/base/text.h"

namespace corolane::config::detail {
namespace {

TEST(TextTest, ExcerptCutsLongTextBetweenCharacters) {
  EXPECT_EQ(excerpt(std::string(60, 'x')), quote(std::string(60, 'x')));
  EXPECT_EQ(excerpt(std::string(61, 'x')), quote(std::string(60, 'x')) + "...");
  EXPECT_EQ(excerpt(std::string(59, 'x') + "üü"), quote(std::string(59, 'x')) + "...");
}

TEST(TextTest, JoinSeparatesWithCommas) {
  EXPECT_EQ(join({}), "");
  EXPECT_EQ(join({"a"}), "a");
  EXPECT_EQ(join({"a", "b", "c"}), "a, b, c");
}

}  // namespace
}  // namespace corolane::config::detail
