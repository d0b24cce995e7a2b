// SPDX-License-Identifier: MIT
// Claims about rules: the error for values that contradict one another, and its place.
#include "config/detail/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/loader.h"
#include "test/config/inn_config.h"

namespace corolane::config {
namespace {

using inn::InnConfig;
using testing::HasSubstr;
using testing::Not;

std::string message(std::string_view text, const Overrides& overrides = {}) {
  const auto loaded = load_text<InnConfig>(text, "inn.yaml", overrides);
  return loaded ? "" : loaded.error().message();
}

TEST(RulesTest, ABrokenRuleIsReportedWhereTheFirstOfItsKeysIsSet) {
  EXPECT_EQ(message("kitchen:\n  pans: 9\n"), "inn.yaml:2: kitchen.pans: more pans than hooks");
  EXPECT_EQ(message("kitchen:\n\n  pans_max: 1\n"),
            "inn.yaml:3: kitchen.pans_max: more pans than hooks");
  EXPECT_EQ(message("kitchen:\n  pans: 4\n", {.settings = {"kitchen.pans_max=1"}}),
            "inn.yaml:2: kitchen.pans: more pans than hooks");
  EXPECT_EQ(message("", {.settings = {"kitchen.pans_max=1"}}),
            "--set kitchen.pans_max: more pans than hooks");
}

TEST(RulesTest, AllBrokenRulesAreReported) {
  EXPECT_EQ(message("garden: {pans: 9}\nkitchen: {pans: 9}\n"),
            "inn.yaml:2: kitchen.pans: more pans than hooks\n"
            "inn.yaml:1: garden.pans: more pans than hooks");
}

TEST(RulesTest, RulesAreNotCheckedForInvalidValues) {
  const std::string told = message("kitchen: {pans: -1, pans_max: -2}\n");
  EXPECT_THAT(told, HasSubstr("expected at least 0"));
  EXPECT_THAT(told, Not(HasSubstr("hooks")));
}

}  // namespace
}  // namespace corolane::config
