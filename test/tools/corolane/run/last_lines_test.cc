// SPDX-License-Identifier: MIT
// The last lines of a text.
#include "tools/corolane/run/last_lines.h"

#include <gtest/gtest.h>

namespace corolane::tools::cli::run {
namespace {

TEST(LastLinesTest, TheLastLinesAreKeptHoweverTheTextIsSplit) {
  LastLines lines(2);
  for (const char byte : std::string("one\ntwo\nthree\nfour")) lines.add({&byte, 1});

  EXPECT_EQ(lines.text(), "  three\n  four\n");
}

TEST(LastLinesTest, AnEmptyLineCounts) {
  LastLines lines(3);
  lines.add("one\n\ntwo\n");

  EXPECT_EQ(lines.text(), "  one\n  \n  two\n");
}

TEST(LastLinesTest, LongLinesAreCutAndControlCharactersAreEscaped) {
  LastLines lines(2);
  lines.add(std::string(1'000, 'x'));
  lines.add(std::string(1'000, 'y') + "\n\x1b[2J");

  EXPECT_EQ(lines.text(), "  " + std::string(1'000, 'x') + std::string(24, 'y') + "\n  \\x1b[2J\n");
}

TEST(LastLinesTest, AnEmptyTextHasNoLine) { EXPECT_EQ(LastLines(3).text(), ""); }

}  // namespace
}  // namespace corolane::tools::cli::run
