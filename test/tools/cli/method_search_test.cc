// Which method is meant, and what is proposed when none is.
#include "tools/cli/method_search.h"

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

TEST(MethodSearchTest, AnEndBeginsWithAWholePart) { EXPECT_EQ(found("obby/List"), ""); }

TEST(MethodSearchTest, AnEndThatFitsSeveralIsAmbiguous) {
  EXPECT_EQ(complaint("Chess/Move"),
            "\"Chess/Move\" may be any of these; write more of the name:\n"
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
            "  Chess/Watch");
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

TEST(MethodSearchTest, TheServiceMayBeForgotten) {
  EXPECT_EQ(first_line(complaint("List")),
            "the node has no method \"List\"; did you mean game.Lobby/List?");
}

TEST(MethodSearchTest, NothingIsProposedForWhatIsLikeNothing) {
  EXPECT_EQ(first_line(complaint("Weather/Forecast")),
            "the node has no method \"Weather/Forecast\"");
  EXPECT_EQ(first_line(complaint("")), "the node has no method \"\"");
}

}  // namespace
}  // namespace corolane::tools::cli
