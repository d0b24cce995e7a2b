// SPDX-License-Identifier: MIT
// Claims about services/chess/rules/detail/quote.h.
#include "services/chess/rules/detail/quote.h"

#include <gtest/gtest.h>

#include <string>

namespace corolane::services::chess::rules::detail {
namespace {

TEST(QuoteTest, KeepsShortPlainText) {
  EXPECT_EQ(quote("Nf3"), "\"Nf3\"");
  EXPECT_EQ(quote(""), "\"\"");
}

TEST(QuoteTest, CutsLongText) {
  EXPECT_EQ(quote(std::string(32, 'a')), '"' + std::string(32, 'a') + '"');
  EXPECT_EQ(quote(std::string(33, 'a')), '"' + std::string(32, 'a') + "...\"");
}

TEST(QuoteTest, HidesControlCharactersAndNonAscii) {
  EXPECT_EQ(quote("a\x1b\n\t\xff\x7f"), "\"a?????\"");
}

}  // namespace
}  // namespace corolane::services::chess::rules::detail
