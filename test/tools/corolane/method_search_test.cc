// SPDX-License-Identifier: MIT
// The method that a name stands for, and the proposals when there is none.
#include "tools/corolane/method_search.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corolane::tools::cli {
namespace {

const std::vector<std::string> methods = {
    "game.Chess/Join", "game.Chess/Move", "game.fast.Chess/Move", "game.Lobby/List", "Chess/Watch",
};

std::string found(std::string_view wanted) {
  const auto index = find_method(methods, wanted);
  return index ? methods[*index] : "";
}

std::string complaint(std::string_view wanted) {
  const auto index = find_method(methods, wanted);
  return index ? "" : index.error().message();
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST(MethodSearchTest, AFullNameIsFound) {
  EXPECT_EQ(found("game.Chess/Move"), "game.Chess/Move");
  EXPECT_EQ(found("Chess/Watch"), "Chess/Watch");
}

TEST(MethodSearchTest, AUniqueEndIsEnough) {
  EXPECT_EQ(found("Lobby/List"), "game.Lobby/List");
  EXPECT_EQ(found("Chess/Join"), "game.Chess/Join");
  EXPECT_EQ(found("fast.Chess/Move"), "game.fast.Chess/Move");
}

TEST(MethodSearchTest, AnEndBeginsWithAWholePart) {
  EXPECT_EQ(found("obby/List"), "");
  EXPECT_EQ(found("ist"), "");
}

TEST(MethodSearchTest, AMethodOfOnlyOneServiceNeedsNoService) {
  EXPECT_EQ(found("List"), "game.Lobby/List");
  EXPECT_EQ(first_line(complaint("Move")), "\"Move\" is ambiguous; write more of the name:");
}

TEST(MethodSearchTest, TheBeginningsOfServiceAndMethodAreEnough) {
  EXPECT_EQ(found("Lo/Li"), "game.Lobby/List");
  EXPECT_EQ(found("fast.Ch/M"), "game.fast.Chess/Move");
  EXPECT_EQ(found("game.Ch/J"), "game.Chess/Join");
  EXPECT_EQ(found("Wat"), "Chess/Watch");
  EXPECT_EQ(found("Lob"), "game.Lobby/List");
  EXPECT_EQ(complaint("game.C"),
            "\"game.C\" is ambiguous; write more of the name:\n"
            "  game.Chess/Join\n"
            "  game.Chess/Move");
}

TEST(MethodSearchTest, AWholeNameTakesPrecedenceOverAPrefixOfAnother) {
  const std::vector<std::string> similar = {"a.Chess/MoveBack", "a.Chess/Move", "b.Chess2/Move"};

  EXPECT_EQ(find_method(similar, "Chess/Move"), std::size_t{1});
  EXPECT_EQ(find_method(similar, "MoveB"), std::size_t{0});
}

TEST(MethodSearchTest, AShortNameIsTheShortestUniqueNameWithItsService) {
  EXPECT_EQ(short_name(methods, "game.Lobby/List"), "Lobby/List");
  EXPECT_EQ(short_name(methods, "game.fast.Chess/Move"), "fast.Chess/Move");
  EXPECT_EQ(short_name(methods, "game.Chess/Move"), "game.Chess/Move");
  EXPECT_EQ(short_name(methods, "Chess/Watch"), "Chess/Watch");
  for (const std::string& name : methods) EXPECT_EQ(found(short_name(methods, name)), name);
}

TEST(MethodSearchTest, AnEndThatFitsSeveralIsAmbiguous) {
  EXPECT_EQ(complaint("Chess/Move"),
            "\"Chess/Move\" is ambiguous; write more of the name:\n"
            "  game.Chess/Move\n"
            "  game.fast.Chess/Move");
}

TEST(MethodSearchTest, AnUnknownNameListsAllAndProposesTheNearest) {
  EXPECT_EQ(complaint("Lobby/Lits"),
            "the node has no method \"Lobby/Lits\"; did you mean game.Lobby/List?\n"
            "It has:\n"
            "  game.Chess/Join\n"
            "  game.Chess/Move\n"
            "  game.fast.Chess/Move\n"
            "  game.Lobby/List\n"
            "  Chess/Watch\n"
            "Methods that are not public are hidden from clients: is yours public?");
}

TEST(MethodSearchTest, APackageMayBeMistyped) {
  EXPECT_EQ(first_line(complaint("gone.Lobby/List")),
            "the node has no method \"gone.Lobby/List\"; did you mean game.Lobby/List?");
}

TEST(MethodSearchTest, CaseMayBeForgottenAndNeighboursSwapped) {
  EXPECT_EQ(first_line(complaint("lobby/list")),
            "the node has no method \"lobby/list\"; did you mean game.Lobby/List?");
  EXPECT_EQ(first_line(complaint("Lsit")),
            "the node has no method \"Lsit\"; did you mean game.Lobby/List?");
}

TEST(MethodSearchTest, NoProposalIsMadeForANameUnlikeAnyOther) {
  EXPECT_EQ(first_line(complaint("Weather/Forecast")),
            "the node has no method \"Weather/Forecast\"");
  EXPECT_EQ(first_line(complaint("")), "the node has no method \"\"");
}

}  // namespace
}  // namespace corolane::tools::cli
