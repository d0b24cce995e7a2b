// SPDX-License-Identifier: MIT
#include "tools/corolane/project_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coroutine/testing/matchers.h"

namespace corolane::tools::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// The message that refuses a name.
std::string refusal(std::string_view name) {
  const auto checked = check_project_name(name);
  EXPECT_THAT(checked, test::fails_with(Code::invalid_argument)) << name;
  return checked ? "" : std::string(checked.error().message());
}

TEST(ProjectNameTest, LowerCaseWordsAreNames) {
  for (const char* name : {"demo", "my_game", "x", "chess2", "a_1"}) {
    EXPECT_TRUE(check_project_name(name)) << name;
  }
  EXPECT_TRUE(check_project_name(std::string(40, 'a')));
}

TEST(ProjectNameTest, ARefusalSaysWhatIsExpectedAndProposesAName) {
  EXPECT_EQ(refusal("My-Game"),
            "\"My-Game\" is not a valid name: expected at most 40 lower-case letters, digits and "
            "single '_', a letter first, since it is also a namespace; "
            "try: corolane new my_game");
}

TEST(ProjectNameTest, AProposalIsAValidName) {
  for (const char* name : {"Demo", "7-up", "a__b", "_x_", "../up", "", "42", "ünder", "a b", "Time",
                           "CLASS", "size_t", "some_protos"}) {
    const std::string said = refusal(name);
    const std::string proposed = said.substr(said.rfind(' ') + 1);
    EXPECT_TRUE(check_project_name(proposed)) << proposed;
  }
  const std::string said = refusal(std::string(100, 'a'));
  EXPECT_TRUE(check_project_name(said.substr(said.rfind(' ') + 1))) << said;
}

TEST(ProjectNameTest, AReservedNameIsRefused) {
  EXPECT_THAT(refusal("class"), HasSubstr("a word of C++"));
  EXPECT_THAT(refusal("xor_eq"), HasSubstr("a word of C++"));
  EXPECT_THAT(refusal("alignas"), HasSubstr("a word of C++"));
  EXPECT_THAT(refusal("framework"), HasSubstr("a name of corolane itself"));
  EXPECT_THAT(refusal("time"), HasSubstr("a function of C"));
  EXPECT_THAT(refusal("index"), EndsWith("; try: corolane new index_game"));
}

}  // namespace
}  // namespace corolane::tools::cli
