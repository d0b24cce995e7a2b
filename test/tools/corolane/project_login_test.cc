// SPDX-License-Identifier: MIT
// The login with which a project with a page begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "coroutine/testing/matchers.h"
#include "tools/corolane/templates/login.h"

namespace my_game {
namespace {

using corolane::Code;
using corolane::test::fails_with;

TEST(ProjectLoginTest, APlayerIsWhoThePageSays) {
  const auto anna = login_by_name("Anna", {});
  ASSERT_TRUE(anna);
  EXPECT_EQ(anna->id, "Anna");
  EXPECT_TRUE(anna->roles.empty());
}

TEST(ProjectLoginTest, ATokenThatIsNoNameIsRefused) {
  EXPECT_THAT(login_by_name("\xff", {}), fails_with(Code::unauthenticated));
  EXPECT_THAT(login_by_name(std::string(81, 'a'), {}), fails_with(Code::unauthenticated));
}

TEST(ProjectLoginTest, WithoutANameNobodyHasLoggedIn) {
  const auto somebody = login_by_name("", {});
  ASSERT_TRUE(somebody);
  EXPECT_TRUE(somebody->is_anonymous());
}

}  // namespace
}  // namespace my_game
