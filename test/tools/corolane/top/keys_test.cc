// SPDX-License-Identifier: MIT
// Bytes from a terminal, read as keys.
#include "tools/corolane/top/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace corolane::tools::cli::top {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeysTest, LettersAreThemselves) {
  EXPECT_THAT(read_keys("tj"), ElementsAre(Key{.character = 't'}, Key{.character = 'j'}));
}

TEST(KeysTest, ArrowsHaveTwoEncodings) {
  EXPECT_THAT(read_keys("\x1b[A\x1bOB"),
              ElementsAre(Key{.kind = Key::Kind::up}, Key{.kind = Key::Kind::down}));
}

TEST(KeysTest, AnEscapeAloneIsAKey) {
  EXPECT_THAT(read_keys("\x1b"), ElementsAre(Key{.kind = Key::Kind::escape}));
  EXPECT_THAT(read_keys("\x1bq"),
              ElementsAre(Key{.kind = Key::Kind::escape}, Key{.character = 'q'}));
}

TEST(KeysTest, UnknownSequencesAreSkipped) {
  EXPECT_THAT(read_keys("\x1b[1;5C\x1b[200~"), IsEmpty());
  EXPECT_THAT(read_keys("\x1b[1;5Ct"), ElementsAre(Key{.character = 't'}));
  EXPECT_THAT(read_keys("\x1b[12"), IsEmpty());
}

TEST(KeysTest, ReturnIsEnter) {
  EXPECT_THAT(read_keys("\r"), ElementsAre(Key{.kind = Key::Kind::enter}));
}

}  // namespace
}  // namespace corolane::tools::cli::top
