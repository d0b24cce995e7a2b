// SPDX-License-Identifier: MIT
// Tests of a configuration that is reloaded while the node runs.
#include "framework/node/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "coroutine/testing/matchers.h"
#include "framework/run/run_main.h"
#include "test/framework/fort.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;
using config::Change;
using test::fails_with;
using test::Fort;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* original =
    "node:\n"
    "  name: fort\n"
    "  log_level: info\n"
    "fort:\n"
    "  guards: 4\n";

TEST(ReloadTest, LiveKeysChangeAtOnce) {
  Fort fort(original);
  fort.write("node: {name: fort, log_level: error}\nfort: {guards: 5, gates: [north, south]}\n");
  const auto changes = fort.reload();
  ASSERT_TRUE(changes) << changes;
  EXPECT_THAT(*changes,
              ElementsAre(Change{"node.log_level", "\"info\"", "\"error\"", true},
                          Change{"fort.guards", "4", "5", true},
                          Change{"fort.gates", "[\"north\"]", "[\"north\", \"south\"]", true}));
  EXPECT_EQ(fort.seen().guards, 5);
  EXPECT_THAT(fort.seen().gates, ElementsAre("north", "south"));
  EXPECT_EQ(fort.node().config().log_level, LogLevel::error);
  EXPECT_FALSE(fort.node().log().writes(LogLevel::warning));
  EXPECT_THAT(fort.log_lines().back(), HasSubstr("configuration reloaded"));
  EXPECT_EQ(fort.program().node_config().log_level, LogLevel::error);
}

TEST(ReloadTest, OtherKeysWaitForTheNextStartAndAreReportedEachTime) {
  Fort fort(original);
  fort.write("node: {name: castle}\nfort: {guards: 5, guards_max: 50}\n");
  for (int i = 0; i < 2; ++i) {
    const auto changes = fort.reload();
    ASSERT_TRUE(changes) << changes;
    EXPECT_THAT(*changes, testing::Contains(Change{"node.name", "\"fort\"", "\"castle\"", false}));
    EXPECT_THAT(*changes, testing::Contains(Change{"fort.guards_max", "9", "50", false}));
    EXPECT_EQ(fort.node().config().name, "fort");
    EXPECT_EQ(fort.seen().guards_max, 9);
    EXPECT_EQ(fort.seen().guards, 5);
  }
}

TEST(ReloadTest, AnErrorAnywhereChangesNothing) {
  Fort fort(original);
  fort.write("node:\n  log_level: debug\n  clients: {connections_max: 0}\nfort:\n  gards: 7\n");
  const auto changes = fort.reload();
  ASSERT_FALSE(changes);
  const std::string message = fort.without_folder(changes.error().message());
  EXPECT_THAT(message, HasSubstr("fort.yaml:3: node.clients.connections_max: read \"0\""));
  EXPECT_THAT(message, HasSubstr("\nfort.yaml:5: unknown key \"gards\""));
  EXPECT_EQ(fort.node().config().log_level, LogLevel::info);
  EXPECT_EQ(fort.seen().guards, 4);
  EXPECT_THAT(fort.log_lines().back(), HasSubstr(" error   configuration not reloaded; nothing"));
}

TEST(ReloadTest, LiveKeysMustFitTheOtherKeysInEffect) {
  Fort fort(original);
  fort.write("fort:\n  guards_max: 50\n  guards: 20\n");
  const auto changes = fort.reload();
  ASSERT_FALSE(changes);
  EXPECT_EQ(fort.without_folder(changes.error().message()),
            "fort.yaml:3: fort.guards: more guards than room (the new live values, with the "
            "other values in effect)");
  EXPECT_EQ(fort.seen().guards, 4);
}

TEST(ReloadTest, ASnapshotInUseStaysUnchanged) {
  Fort fort(original);
  std::shared_ptr<const test::FortConfig> before;
  before = Live<test::FortConfig>(fort.seen()).snapshot();
  fort.write("fort: {guards: 9}\n");
  ASSERT_TRUE(fort.reload());
  EXPECT_EQ(before->guards, 4);
  EXPECT_EQ(fort.seen().guards, 9);
}

TEST(ReloadTest, AKeyRemovedFromTheFileReturnsToItsDefault) {
  Fort fort(original);
  fort.write("");
  ASSERT_TRUE(fort.reload());
  EXPECT_EQ(fort.seen().guards, 3);
}

TEST(ReloadTest, AMissingFileChangesNothing) {
  Fort fort(original);
  std::filesystem::remove(fort.path());
  const auto changes = fort.reload();
  ASSERT_FALSE(changes);
  EXPECT_THAT(changes.error().message(), HasSubstr("fort.yaml: cannot be read: No such file"));
  EXPECT_EQ(fort.seen().guards, 4);
}

TEST(ReloadTest, TheLogNamesTheChangesWithoutSecrets) {
  Fort fort(original);
  fort.write("node: {name: castle}\nfort: {guards: 5, password: mellon}\n");
  ASSERT_TRUE(fort.reload());
  EXPECT_THAT(fort.log_lines().back(), HasSubstr(" info    configuration reloaded changed="));
  EXPECT_THAT(fort.log_lines().back(), HasSubstr("fort.guards: 4 -> 5, fort.password: "));
  EXPECT_THAT(fort.log_lines().back(), HasSubstr("at_next_start=\"node.name: "));
  EXPECT_THAT(fort.log_lines().back(), Not(HasSubstr("mellon")));
  EXPECT_EQ(fort.seen().password, "mellon");
}

TEST(ReloadTest, OnChangeGetsTheNewConfiguration) {
  Duration heard{};
  Fort fort(original, {.on_change = [&](const NodeConfig& c) { heard = c.stop_time_max; }});
  fort.write("node: {stop_time_max: 7s}\n");
  ASSERT_TRUE(fort.reload());
  EXPECT_EQ(heard, 7s);
}

TEST(ReloadTest, ARecordedNodeKeepsItsConfiguration) {
  Fort fort(original, {.is_refused = true});
  fort.write("fort: {guards: 5}\n");
  const auto changes = fort.reload();
  ASSERT_FALSE(changes);
  EXPECT_EQ(changes.error().code(), Code::failed_precondition);
  EXPECT_EQ(fort.seen().guards, 4);
  EXPECT_THAT(fort.page("/config").body, Not(HasSubstr("fort.yaml")));
}

TEST(ReloadTest, ANodeThatHasNotStartedRefusesAndKeepsAllValuesUntilItIsAskedAgain) {
  Fort fort(original, Fort::not_started);
  fort.write("fort: {guards: 5}\n");
  EXPECT_THAT(fort.reload(), fails_with(Code::unavailable));
  EXPECT_THAT(fort.log_lines().back(), HasSubstr("try again once it serves"));
  fort.start();
  EXPECT_EQ(fort.seen().guards, 4);
  EXPECT_THAT(fort.page("/config").body, testing::ContainsRegex("\nfort\\.guards +4 +live +- "));
  ASSERT_TRUE(fort.reload());
  EXPECT_EQ(fort.seen().guards, 5);
}

TEST(ReloadTest, ThePageShowsEachKeyWithItsOriginAndWhetherItIsLive) {
  Fort fort(std::string(original) + "  password: mellon\n");
  const std::string text = fort.without_folder(fort.page("/config").body);
  EXPECT_THAT(text, StartsWith("KEY  "));
  EXPECT_THAT(text, testing::ContainsRegex("\nnode\\.name +\"fort\" +- +- +fort\\.yaml:2\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nfort\\.guards +4 +live +- +fort\\.yaml:5\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nnode\\.shards +1 +- +- +--set node\\.shards\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nfort\\.watch +1h +live +- +default\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nfort\\.password +\\*\\*\\* "));

  const Json json = Json::parse(fort.page("/config?format=json").body, nullptr, false);
  EXPECT_EQ(json["keys"].size(), fort.program().keys().size());
  EXPECT_EQ(json["keys"][0]["key"], "node.name");
  EXPECT_EQ(json["keys"][0]["live"], false);
  EXPECT_THAT(json.dump(), Not(HasSubstr("mellon")));
}

TEST(ReloadTest, ThePageShowsKeysThatWaitForTheNextStart) {
  Fort fort(original);
  fort.write("node: {name: castle}\n");
  ASSERT_TRUE(fort.reload());
  const std::string text = fort.without_folder(fort.page("/config").body);
  EXPECT_THAT(text, testing::ContainsRegex("\nnode\\.name +\"fort\" +- +\"castle\" +"));
  EXPECT_THAT(text, testing::ContainsRegex("\nfort\\.guards +3 +live +- +default\n"));
}

TEST(ReloadTest, PostReloadsAndAnswersWithTheDifference) {
  Fort fort(original);
  fort.write("node: {name: castle, log_level: info}\nfort: {guards: 5}\n");
  EXPECT_EQ(fort.page("/config/reload", "POST").body,
            "KEY          BEFORE  AFTER     TAKES EFFECT\n"
            "node.name    \"fort\"  \"castle\"  at the next start\n"
            "fort.guards  4       5         now\n");
  EXPECT_EQ(fort.seen().guards, 5);
  const auto again = fort.page("/config/reload?format=json", "POST");
  EXPECT_EQ(again.status, 200U);
  EXPECT_EQ(Json::parse(again.body, nullptr, false),
            (Json{{"reloaded", true},
                  {"changes",
                   {{{"key", "node.name"},
                     {"before", "\"fort\""},
                     {"after", "\"castle\""},
                     {"takes_effect", "at the next start"}}}}}));
  fort.write(original);
  ASSERT_TRUE(fort.reload());
  EXPECT_EQ(fort.page("/config/reload", "POST").body, "reloaded; no value has changed\n");
}

TEST(ReloadTest, PostOfAnInvalidFileNamesThePlacesAndChangesNothing) {
  Fort fort(original);
  fort.write("fort:\n  guards: many\n  watch: 5\n");
  const auto text = fort.page("/config/reload", "POST");
  EXPECT_EQ(text.status, 422U);
  EXPECT_THAT(fort.without_folder(text.body),
              StartsWith("fort.yaml:2: fort.guards: read \"many\""));
  EXPECT_THAT(text.body, HasSubstr("\nnothing has changed\n"));
  const auto json = fort.page("/config/reload?format=json", "POST");
  EXPECT_EQ(json.status, 422U);
  EXPECT_EQ(Json::parse(json.body, nullptr, false)["errors"].size(), 2U);
  EXPECT_EQ(fort.seen().guards, 4);
}

TEST(ReloadTest, OnlyPostReloads) {
  Fort fort(original);
  fort.write("fort: {guards: 5}\n");
  EXPECT_EQ(fort.page("/config/reload").status, 405U);
  EXPECT_EQ(fort.page("/config", "POST").status, 405U);
  EXPECT_EQ(fort.page("/config/reload?format=xml", "POST").status, 400U);
  EXPECT_EQ(fort.seen().guards, 4);
}

TEST(ReloadTest, AServiceThatTakesItsConfigurationOnceHasNoLiveKeys) {
  detail::TypedProgram<void, const test::FortConfig&> program(
      [](Node&, const test::FortConfig&) {});
  std::size_t live_count = 0;
  for (const config::Key& key : program.keys()) {
    const bool is_of_service = key.path.starts_with("fort.");
    EXPECT_FALSE(is_of_service && key.marks.is_live) << key.path;
    live_count += key.marks.is_live ? 1 : 0;
  }
  EXPECT_GT(live_count, 0U) << "those of the node are";
}

}  // namespace
}  // namespace corolane::framework
