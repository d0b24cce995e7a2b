// SPDX-License-Identifier: MIT
#include "tools/corolane/stack_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace corolane::tools::cli {
namespace {

using testing::HasSubstr;

const StackSizes two_sizes = {{"chess.Game/Move", 128 * 1024}, {"chess.Lobby/Seek", 32 * 1024}};

std::string edited(std::string_view yaml) {
  const auto text = with_stack_sizes(yaml, two_sizes);
  return text ? *text : "error: " + text.error().message();
}

TEST(StackSizesTest, SuggestionsThatDifferAreTaken) {
  const auto sizes = suggested_sizes(R"({"methods": [
      {"method": "a.B/Deep", "stack_size_bytes": 65536, "suggested_stack_bytes": 131072,
       "measured_stacks": 3},
      {"method": "a.B/Right", "stack_size_bytes": 65536, "suggested_stack_bytes": 65536,
       "measured_stacks": 300},
      {"method": "a.B/Flat", "stack_size_bytes": 65536, "suggested_stack_bytes": 16384,
       "measured_stacks": 300},
      {"method": "a.B/Seldom", "stack_size_bytes": 65536, "suggested_stack_bytes": 16384,
       "measured_stacks": 3},
      {"method": "a.B/Unknown", "stack_size_bytes": null, "suggested_stack_bytes": null}]})");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (StackSizes{{"a.B/Deep", 131072}, {"a.B/Flat", 16384}}));
}

TEST(StackSizesTest, TheDeeperOfTheTwoWaysOfAMethodOfObjectsCounts) {
  const auto sizes = suggested_sizes(R"({"methods": [
      {"method": "a.B/Deep", "kind": "service", "calls": 300, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 65536, "measured_stacks": 300},
      {"method": "a.B/Deep", "kind": "object", "calls": 300, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 16384, "measured_stacks": 300},
      {"method": "a.B/Seldom", "kind": "service", "calls": 3, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 32768, "measured_stacks": 3},
      {"method": "a.B/Seldom", "kind": "object", "calls": 300, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 16384, "measured_stacks": 300},
      {"method": "a.B/Unmeasured", "kind": "service", "calls": 3, "stack_size_bytes": 65536,
       "suggested_stack_bytes": null, "measured_stacks": 0},
      {"method": "a.B/Unmeasured", "kind": "object", "calls": 300, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 16384, "measured_stacks": 300},
      {"method": "a.B/Flat", "kind": "service", "calls": 300, "stack_size_bytes": 65536,
       "suggested_stack_bytes": 32768, "measured_stacks": 300},
      {"method": "a.B/Flat", "kind": "object", "calls": 0, "stack_size_bytes": 65536,
       "suggested_stack_bytes": null, "measured_stacks": 0}]})");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (StackSizes{{"a.B/Flat", 32768}}));
}

TEST(StackSizesTest, NoSizeShrinksWhileAShardDoesNotAnswer) {
  const auto sizes = suggested_sizes(R"({"silent_shards": [{"shard": 1}], "methods": [
      {"method": "a.B/Deep", "stack_size_bytes": 65536, "suggested_stack_bytes": 131072,
       "measured_stacks": 3},
      {"method": "a.B/Flat", "stack_size_bytes": 65536, "suggested_stack_bytes": 16384,
       "measured_stacks": 300}]})");
  ASSERT_TRUE(sizes);
  EXPECT_EQ(*sizes, (StackSizes{{"a.B/Deep", 131072}}));
}

TEST(StackSizesTest, AnAnswerOfAnotherPageIsRefused) {
  EXPECT_FALSE(suggested_sizes(R"({"tasks": []})"));
  EXPECT_FALSE(suggested_sizes("no JSON"));
}

TEST(StackSizesTest, AFileWithoutASectionGetsOne) {
  EXPECT_EQ(edited("chess:\n  clock: 10min\n"),
            "chess:\n  clock: 10min\n"
            "node:\n"
            "  stacks:\n"
            "    methods:\n"
            "      - {method: chess.Game/Move, size: 128KiB}\n"
            "      - {method: chess.Lobby/Seek, size: 32KiB}\n");
}

TEST(StackSizesTest, OtherKeysAndCommentsStay) {
  EXPECT_EQ(edited("# ours\n"
                   "node:\n"
                   "    # the name\n"
                   "    name: one  # as in DNS\n"
                   "chess: {}\n"),
            "# ours\n"
            "node:\n"
            "    stacks:\n"
            "      methods:\n"
            "        - {method: chess.Game/Move, size: 128KiB}\n"
            "        - {method: chess.Lobby/Seek, size: 32KiB}\n"
            "    # the name\n"
            "    name: one  # as in DNS\n"
            "chess: {}\n");
}

TEST(StackSizesTest, AListThatIsThereIsMerged) {
  EXPECT_EQ(edited("node:\n"
                   "  stacks:\n"
                   "    count_max: 5000\n"
                   "    methods:\n"
                   "      - {method: chess.Game/Move, size: 64KiB}\n"
                   "      - method: chess.Game/Resign\n"
                   "        size: 16KiB\n"
                   "  name: one\n"),
            "node:\n"
            "  stacks:\n"
            "    count_max: 5000\n"
            "    methods:\n"
            "      - {method: chess.Game/Move, size: 128KiB}\n"
            "      - {method: chess.Game/Resign, size: 16KiB}\n"
            "      - {method: chess.Lobby/Seek, size: 32KiB}\n"
            "  name: one\n");
}

TEST(StackSizesTest, ASectionWithoutTheListGetsIt) {
  EXPECT_EQ(edited("node:\n"
                   "  stacks:\n"
                   "    count_max: 5000\n"),
            "node:\n"
            "  stacks:\n"
            "    methods:\n"
            "      - {method: chess.Game/Move, size: 128KiB}\n"
            "      - {method: chess.Lobby/Seek, size: 32KiB}\n"
            "    count_max: 5000\n");
}

TEST(StackSizesTest, TheSameSizesChangeNothing) {
  const std::string once = edited("node:\n  name: one\n");
  EXPECT_EQ(edited(once), once);
}

TEST(StackSizesTest, AListAtTheDepthOfItsKeyIsRead) {
  EXPECT_THAT(edited("node:\n"
                     "  stacks:\n"
                     "    methods:\n"
                     "    - {method: a.B/C, size: 16KiB}\n"),
              HasSubstr("    methods:\n      - {method: a.B/C, size: 16KiB}\n"));
}

TEST(StackSizesTest, WhatOnlyAPersonCanEditIsRefused) {
  EXPECT_THAT(edited("node: {name: one}\n"), HasSubstr("error: line 1: \"node\" has its value"));
  EXPECT_THAT(edited("node:\n  stacks: {count_max: 5000}\n"), HasSubstr("error: line 2"));
  for (const char* const node : {"\"node\":", "node :", "\xEF\xBB\xBFnode:", "'node' :"}) {
    EXPECT_THAT(edited("# ours\n" + std::string(node) + "\n  name: one\n"),
                HasSubstr("error: line 2: write \"node:\" without quotes"));
  }
  EXPECT_THAT(edited("{node: {name: one}}\n"), HasSubstr("error: line 1: write \"node:\""));
  EXPECT_THAT(edited("node:\n  \"stacks\":\n    count_max: 5000\n"),
              HasSubstr("error: line 2: write \"stacks:\""));
  EXPECT_THAT(edited("node:\n  stacks:\n    methods:\n      # deep\n      - {method: a.B/C, "
                     "size: 16KiB}\n"),
              HasSubstr("error: line 4: this comment would be lost"));
  EXPECT_THAT(edited("node:\n  stacks:\n    methods:\n      - {name: a.B/C}\n"),
              HasSubstr("is not {method: NAME, size: SIZE}"));
}

}  // namespace
}  // namespace corolane::tools::cli
