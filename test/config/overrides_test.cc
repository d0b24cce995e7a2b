// SPDX-License-Identifier: MIT
// Claims about config/overrides.h, tested through loads.
#include "config/overrides.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "config/loader.h"
#include "test/config/sample_config.h"

namespace corolane::config {
namespace {

using namespace std::chrono_literals;
using sample::NodeConfig;
using Strings = std::vector<std::string>;

NodeConfig loaded(std::string_view text, const Overrides& overrides) {
  auto result = load_text<NodeConfig>(text, "node.yaml", overrides);
  EXPECT_TRUE(result) << result;
  return result ? result->value : NodeConfig{};
}

std::string errors(std::string_view text, const Overrides& overrides) {
  const auto result = load_text<NodeConfig>(text, "node.yaml", overrides);
  return result ? "" : result.error().message();
}

TEST(OverridesTest, SettingsReplaceTheFile) {
  const NodeConfig config = loaded("chess:\n  rooms_max: 7\n  clock: 5min\n",
                                   {.settings = {"chess.rooms_max=5", "name=a=b"}});
  EXPECT_EQ(config.chess.rooms_max, 5u);
  EXPECT_EQ(config.chess.clock, 5min);
  EXPECT_EQ(config.name, "a=b");
}

TEST(OverridesTest, VariablesAreSpelledInCapitalsWithTwoUnderscoresForADot) {
  const NodeConfig config =
      loaded("", {.environment = {"COROLANE_CHESS__ROOMS_MAX=5", "COROLANE_NAME=x", "PATH=/bin",
                                  "XCOROLANE_PORT=no"}});
  EXPECT_EQ(config.chess.rooms_max, 5u);
  EXPECT_EQ(config.name, "x");
}

TEST(OverridesTest, TheCommandLineHasTheLastWord) {
  const Overrides overrides = {.environment = {"COROLANE_PORT=2"},
                               .settings = {"port=3", "port=4"}};
  EXPECT_EQ(loaded("port: 1\n", overrides).port, 4);
  EXPECT_EQ(loaded("port: 1\n", {.environment = {"COROLANE_PORT=2"}}).port, 2);
}

TEST(OverridesTest, AScalarIsTakenLiterally) {
  const NodeConfig config = loaded("", {.settings = {"name= # \"x\": [y"}});
  EXPECT_EQ(config.name, " # \"x\": [y");
  EXPECT_EQ(loaded("", {.settings = {"name="}}).name, "");
}

TEST(OverridesTest, AListIsYaml) {
  const NodeConfig config =
      loaded("hosts: [x]\n", {.environment = {"COROLANE_PEERS=[{address: \"a:1\", weight: 2}]"},
                              .settings = {"hosts=[a, \"b c\"]", "retry_delays=[]"}});
  EXPECT_EQ(config.hosts, (Strings{"a", "b c"}));
  ASSERT_EQ(config.peers.size(), 1u);
  EXPECT_EQ(config.peers[0].address, "a:1");
  EXPECT_TRUE(config.retry_delays.empty());
}

TEST(OverridesTest, NullEmptiesAnOptional) {
  const std::string text = "slow_after: 5s\nbackup: {}\n";
  EXPECT_EQ(loaded(text, {.settings = {"slow_after=null"}}).slow_after, std::nullopt);
  EXPECT_EQ(loaded(text, {.settings = {"backup=null"}}).backup, std::nullopt);
  EXPECT_EQ(loaded("", {.settings = {"slow_after=9ms"}}).slow_after, 9ms);
  EXPECT_EQ(loaded("", {.settings = {"backup.weight=3"}}).backup->weight, 3.0);
}

TEST(OverridesTest, ASectionWithoutKeysInTheFileCanBeFilled) {
  EXPECT_EQ(loaded("chess:\n", {.settings = {"chess.rooms_max=5"}}).chess.rooms_max, 5u);
}

TEST(OverridesTest, ErrorsNameTheirOrigin) {
  EXPECT_EQ(errors("", {.environment = {"COROLANE_CHESS__CLOCK=10", "COROLANE_CHES__CLOCK=1s"},
                        .settings = {"chess.rooms_max=0", "chess.rooms_mx=5", "port=x"}}),
            "--set port: read \"x\"; expected a whole number from 0 to 65535, such as 42\n"
            "--set chess.rooms_max: read \"0\"; expected at least 1\n"
            "environment COROLANE_CHESS__CLOCK: read \"10\" without a unit; expected a duration, "
            "such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)\n"
            "--set chess.rooms_mx: unknown key \"rooms_mx\" in section \"chess\"; did you mean "
            "\"rooms_max\"?\n"
            "environment COROLANE_CHES__CLOCK: unknown key \"ches\" at the top level; did you "
            "mean \"chess\"?");
}

TEST(OverridesTest, ErrorsOfTheFileComeFirst) {
  EXPECT_EQ(errors("chess:\n  clock: 0\n", {.settings = {"port=x"}}),
            "node.yaml:2: chess.clock: read \"0\"; expected between 1s and 1d\n"
            "--set port: read \"x\"; expected a whole number from 0 to 65535, such as 42");
}

TEST(OverridesTest, ErrorsInAListNameItsElement) {
  EXPECT_EQ(
      errors("", {.settings = {"peers=[{weight: 11}, {weigth: 1}]"}}),
      "--set peers: peers[0].weight: read \"11\"; expected between 0 and 10\n"
      "--set peers: unknown key \"weigth\" in section \"peers[1]\"; did you mean \"weight\"?");
  EXPECT_EQ(errors("", {.settings = {"hosts=a, b"}}),
            "--set hosts: read \"a, b\"; expected a list, such as [a, b], or [] for none");
  EXPECT_EQ(errors("", {.settings = {"hosts=[a"}}),
            "--set hosts: cannot be parsed: end of sequence flow not found");
}

TEST(OverridesTest, AValueForASectionIsRefused) {
  EXPECT_EQ(errors("", {.settings = {"chess=5"}}),
            "--set chess: read \"5\"; expected a section, which has keys of its own");
}

TEST(OverridesTest, AKeyBelowAValueIsRefused) {
  EXPECT_EQ(errors("port: 5\n", {.settings = {"port.x=1"}}),
            "--set port.x: \"port\" is not a section, it has a value from node.yaml:1");
  EXPECT_EQ(errors("", {.settings = {"port.x=1"}}),
            "--set port.x: port: read a section; expected a whole number from 0 to 65535, such as "
            "42");
  EXPECT_EQ(
      errors("", {.settings = {"hosts.0=a"}}),
      "--set hosts.0: hosts: read a section; expected a list, such as [a, b], or [] for none");
}

TEST(OverridesTest, AMalformedSettingIsRefused) {
  const std::string hint = ": expected a key and its value, such as chess.rooms_max=5";
  EXPECT_EQ(errors("", {.settings = {"port", "=5", "chess..clock=1s", ".port=5", ""}}),
            "--set port" + hint + "\n--set " + hint + "\n--set chess..clock" + hint +
                "\n--set .port" + hint + "\n--set " + hint);
  EXPECT_EQ(errors("", {.environment = {"COROLANE_=5", "COROLANE_PORT"}}),
            "environment COROLANE_: expected a name such as COROLANE_CHESS__ROOMS_MAX\n"
            "environment COROLANE_PORT: expected a name such as COROLANE_CHESS__ROOMS_MAX");
}

TEST(OverridesTest, HostileSettingsAreRefused) {
  std::string path = "a";
  for (int i = 0; i < 100'000; ++i) path += ".a";
  EXPECT_TRUE(errors("", {.settings = {path + "=1"}}).ends_with(": nested deeper than 32 levels"));
  EXPECT_EQ(errors("", {.settings = {"name=\xff"}}), "--set name: the value is not UTF-8");
  EXPECT_EQ(errors("", {.settings = {"na\nme=x"}}),
            "--set na\\nme: unknown key \"na\\nme\" at the top level; did you mean \"name\"?");
}

TEST(OverridesTest, TheEnvironmentOfTheProcessIsRead) {
  ASSERT_EQ(::setenv("COROLANE_OVERRIDES_TEST", "1", 1), 0);
  const Strings variables = process_environment();
  ::unsetenv("COROLANE_OVERRIDES_TEST");
  EXPECT_NE(std::ranges::find(variables, "COROLANE_OVERRIDES_TEST=1"), variables.end());
  EXPECT_TRUE(std::ranges::all_of(
      variables, [](const std::string& entry) { return entry.starts_with(environment_prefix); }));
}

}  // namespace
}  // namespace corolane::config
