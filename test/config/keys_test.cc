// SPDX-License-Identifier: MIT
// Claims about the list of keys: marks, secrets, changes, and the keys that a reload applies.
#include "config/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/loader.h"
#include "test/config/inn_config.h"

namespace corolane::config {
namespace {

using namespace std::chrono_literals;
using inn::InnConfig;
using testing::HasSubstr;
using testing::Not;

Key key_of(const InnConfig& config, std::string_view path) {
  const auto all = keys(config);
  const auto found = std::ranges::find(all, path, &Key::path);
  return found == all.end() ? Key() : *found;
}

TEST(KeysTest, EachValueThatCanBeSetIsAKey) {
  std::string paths;
  for (const Key& key : keys(InnConfig())) paths += key.path + " ";
  EXPECT_EQ(paths,
            "sign password pin rooms kitchen.pans kitchen.pans_max kitchen.boil "
            "garden.pans garden.pans_max garden.boil ");
}

TEST(KeysTest, AKeyKnowsItsTypeValueAndLimits) {
  InnConfig config;
  config.rooms = {{.beds = 4}, {}};
  const Key rooms = key_of(config, "rooms");
  EXPECT_EQ(rooms.type, "list of section");
  EXPECT_EQ(rooms.value, "[{beds: 4}, {beds: 2}]");
  const Key pans = key_of(config, "kitchen.pans");
  EXPECT_EQ(pans.type, "integer");
  EXPECT_EQ(pans.allowed, "at least 0");
  EXPECT_EQ(pans.help, "What hangs there.");
  EXPECT_EQ(key_of(config, "kitchen.boil").value, "3min");
}

TEST(KeysTest, AFixedSectionHasNothingLive) {
  EXPECT_TRUE(key_of({}, "kitchen.pans").marks.is_live);
  EXPECT_FALSE(key_of({}, "garden.pans").marks.is_live);
}

TEST(KeysTest, ASecretIsComparedButNotShown) {
  InnConfig before;
  before.password = "mellon";
  InnConfig after = before;
  after.password = "friend";
  EXPECT_EQ(key_of(before, "password").shown, "***");
  const auto found = changes(keys(before), keys(after));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "password");
  EXPECT_EQ(found[0].before, "***");
  EXPECT_EQ(found[0].after, "***");
}

TEST(KeysTest, AnEmptySecretIsNotHidden) {
  EXPECT_EQ(key_of({}, "password").shown, "\"\"");
  EXPECT_EQ(key_of({}, "pin").shown, "null");
}

TEST(KeysTest, NoSecretIsPrintedAndTheRestLoadsAgain) {
  const auto loaded = load_text<InnConfig>("password: mellon\npin: 1234\nsign: x\n", "inn.yaml");
  ASSERT_TRUE(loaded) << loaded;
  const std::string printed = print(loaded->value, loaded->origins);
  EXPECT_THAT(printed, Not(HasSubstr("mellon")));
  EXPECT_THAT(printed, Not(HasSubstr("1234")));
  EXPECT_THAT(printed, HasSubstr("\n# password: not shown, from inn.yaml:1\n"));
  const auto again = load_text<InnConfig>(printed, "again.yaml");
  ASSERT_TRUE(again) << again;
  EXPECT_EQ(again->value.sign, "x");
  EXPECT_EQ(again->value.password, "");

  const std::string all = print(loaded->value, {}, Secrets::shown);
  EXPECT_EQ(load_text<InnConfig>(all, "all.yaml")->value, loaded->value);
}

TEST(KeysTest, AnInvalidSecretIsNotQuotedInTheError) {
  const auto loaded = load_text<InnConfig>("pin: 77777\n", "inn.yaml", {.settings = {"pin=x81"}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message(),
            "--set pin: read something that is not allowed here; it is a secret");
}

TEST(KeysTest, ChangesCompareValuesNotSpellings) {
  const auto a = load_text<InnConfig>("kitchen: {boil: 60s}\nrooms: [{beds: 3}]\n", "a.yaml");
  const auto b = load_text<InnConfig>("kitchen:\n  boil: 1min\nrooms:\n- beds: '3'\n", "b.yaml");
  ASSERT_TRUE(a);
  ASSERT_TRUE(b);
  EXPECT_TRUE(changes(keys(a->value), keys(b->value)).empty());
}

TEST(KeysTest, OnlyLiveKeysAreTakenOver) {
  InnConfig wanted;
  wanted.sign = "The New Inn";
  wanted.password = "friend";
  wanted.pin = 7;
  wanted.rooms = {{.beds = 4}};
  wanted.kitchen = {.pans = 1, .pans_max = 2, .boil = 1min};
  wanted.garden.pans = 0;
  InnConfig expected;
  expected.sign = "The New Inn";
  expected.password = "friend";
  expected.rooms = {{.beds = 4}};
  expected.kitchen.pans = 1;
  EXPECT_EQ(with_live(InnConfig(), wanted), expected);
}

TEST(KeysTest, TwoValidConfigurationsMayMergeIntoAnInvalidOne) {
  InnConfig current;
  current.kitchen = {.pans = 0, .pans_max = 1};
  InnConfig wanted;
  wanted.kitchen = {.pans = 10, .pans_max = 10};
  ASSERT_TRUE(obeys_rules(current));
  ASSERT_TRUE(obeys_rules(wanted));
  const auto obeyed = obeys_rules(with_live(current, wanted), {{"kitchen.pans", "inn.yaml:7"}});
  ASSERT_FALSE(obeyed);
  EXPECT_EQ(obeyed.error().message(), "inn.yaml:7: kitchen.pans: more pans than hooks");
}

}  // namespace
}  // namespace corolane::config
