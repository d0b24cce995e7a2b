// SPDX-License-Identifier: MIT
// Claims about config/loader.h and config/section.h.
#include "config/loader.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <fstream>
#include <string>

#include "config/detail/source_node.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/testing/temporary_folder.h"
#include "test/config/sample_config.h"

namespace corolane::config {
namespace {

using namespace std::chrono_literals;
using sample::ChessConfig;
using sample::LogLevel;
using sample::NodeConfig;
using sample::PeerConfig;

template <typename T = NodeConfig>
T loaded(std::string_view text) {
  auto result = load_text<T>(text, "node.yaml");
  EXPECT_TRUE(result) << result;
  return result ? result->value : T{};
}

template <typename T = NodeConfig>
std::string errors(std::string_view text) {
  const auto result = load_text<T>(text, "node.yaml");
  if (result) return "";
  EXPECT_EQ(result.error().code(), Code::invalid_argument);
  return result.error().message();
}

TEST(LoaderTest, AnEmptyTextGivesTheDefaults) {
  EXPECT_EQ(loaded(""), NodeConfig{});
  EXPECT_EQ(loaded("chess:\n"), NodeConfig{});
  EXPECT_EQ(loaded("# nothing\nchess: {}\n"), NodeConfig{});
}

TEST(LoaderTest, EveryTypeIsRead) {
  const NodeConfig config = loaded(R"(
name: north
port: 7001
priority: -5
drain: false
log_level: error
lease: 1min
slow_after: 250ms
hosts: [a, b, "c d"]
retry_delays: [10ms, 1.5s]
peers:
  - address: 10.0.0.1:7000
    weight: 0.5
  - address: "10.0.0.2:7000"
backup: {address: "10.0.0.3:7000"}
chess:
  rooms_max: 5
  clock: 3min
  scratch: 1MiB
)");
  EXPECT_EQ(config, (NodeConfig{.name = "north",
                                .port = 7001,
                                .priority = -5,
                                .drain = false,
                                .log_level = LogLevel::error,
                                .lease = 60s,
                                .slow_after = 250ms,
                                .hosts = {"a", "b", "c d"},
                                .retry_delays = {10ms, 1500ms},
                                .peers = {{"10.0.0.1:7000", 0.5}, {"10.0.0.2:7000", 1.0}},
                                .backup = PeerConfig{"10.0.0.3:7000", 1.0},
                                .chess = {5, 3min, 1 * mebibyte}}));
}

TEST(LoaderTest, AStringTakesAnyScalarLiterally) {
  EXPECT_EQ(loaded("name: 1.10\n").name, "1.10");
  EXPECT_EQ(loaded("name: true\n").name, "true");
  EXPECT_EQ(loaded("name: \"\"\n").name, "");
  EXPECT_EQ(loaded("name: \"null\"\n").name, "null");
}

TEST(LoaderTest, NullEmptiesAnOptionalAndNothingElse) {
  EXPECT_EQ(loaded("slow_after: null\nbackup:\n").slow_after, std::nullopt);
  EXPECT_EQ(
      errors("name:\nhosts: ~\nport: null\n"),
      "node.yaml:1: name: read no value; expected text, such as \"some words\"\n"
      "node.yaml:2: hosts: read no value; expected a list, such as [a, b], or [] for none\n"
      "node.yaml:3: port: read no value; expected a whole number from 0 to 65535, such as 42");
}

TEST(LoaderTest, UnknownKeysSuggestTheNearestOne) {
  EXPECT_EQ(errors("chess:\n  clock: 5min\n  rooms_mx: 5\n"),
            "node.yaml:3: unknown key \"rooms_mx\" in section \"chess\"; did you mean "
            "\"rooms_max\"?");
  EXPECT_EQ(errors("ches:\n  clock: 5min\n"),
            "node.yaml:1: unknown key \"ches\" at the top level; did you mean \"chess\"?");
  EXPECT_EQ(errors("peers:\n  - address: a\n  - adress: b\n"),
            "node.yaml:3: unknown key \"adress\" in section \"peers[1]\"; did you mean "
            "\"address\"?");
}

TEST(LoaderTest, UnknownKeysWithoutANearOneListAll) {
  EXPECT_EQ(errors("chess:\n  players: 5\n"),
            "node.yaml:2: unknown key \"players\" in section \"chess\"; known keys: rooms_max, "
            "clock, scratch");
}

TEST(LoaderTest, WrongTypesSayWhatWasReadAndWhatIsExpected) {
  EXPECT_EQ(errors("port: [1]\nname: {a: b}\ndrain: yes\nhosts: a\nchess: 5\npeers: [5, [6]]\n"),
            "node.yaml:1: port: read a list; expected a whole number from 0 to 65535, such as 42\n"
            "node.yaml:2: name: read a section; expected text, such as \"some words\"\n"
            "node.yaml:3: drain: read \"yes\"; expected true or false\n"
            "node.yaml:4: hosts: read \"a\"; expected a list, such as [a, b], or [] for none\n"
            "node.yaml:5: chess: read \"5\"; expected a section, which has keys of its own\n"
            "node.yaml:6: peers[0]: read \"5\"; expected a section, which has keys of its own\n"
            "node.yaml:6: peers[1]: read a list; expected a section, which has keys of its own");
}

TEST(LoaderTest, ARootWithoutKeysIsRefused) {
  EXPECT_EQ(errors("port:7000\n"),
            "node.yaml:1: read \"port:7000\"; expected a section, which has keys of its own");
  EXPECT_EQ(errors("- port\n"),
            "node.yaml:1: read a list; expected a section, which has keys of its own");
}

TEST(LoaderTest, LimitsNameTheAllowedRangeWithUnits) {
  EXPECT_EQ(errors("port: 0\nslow_after: 0\nretry_delays: [1s, 2min]\nchess:\n  rooms_max: 0\n"
                   "  clock: 2d\n  scratch: 2GiB\n"),
            "node.yaml:1: port: read \"0\"; expected at least 1\n"
            "node.yaml:2: slow_after: read \"0\"; expected at least 1ms\n"
            "node.yaml:3: retry_delays[1]: read \"2min\"; expected at most 1min\n"
            "node.yaml:5: chess.rooms_max: read \"0\"; expected at least 1\n"
            "node.yaml:6: chess.clock: read \"2d\"; expected between 1s and 1d\n"
            "node.yaml:7: chess.scratch: read \"2GiB\"; expected at most 1GiB");
}

TEST(LoaderTest, BadUnitsSayWhatIsExpected) {
  EXPECT_EQ(errors<ChessConfig>("clock: 10\nscratch: 64kb\n"),
            "node.yaml:1: clock: read \"10\" without a unit; expected a duration, such as 250ms or "
            "1.5h (units: ns, us, ms, s, min, h, d)\n"
            "node.yaml:2: scratch: read \"64kb\" with an unknown unit \"kb\"; expected a byte "
            "count, such as 64KiB or 1.5MB (units: B, KiB, MiB, GiB, KB, MB, GB)");
}

TEST(LoaderTest, AllErrorsAreReportedInTheOrderOfTheFile) {
  EXPECT_EQ(errors("chess:\n  rooms_max: 0\n  rooms_mx: 1\n  rooms_max: 2\nport: x\n"
                   "log_level: inof\nhosts: &all [a]\nname: *all\n"),
            "node.yaml:2: chess.rooms_max: read \"0\"; expected at least 1\n"
            "node.yaml:3: unknown key \"rooms_mx\" in section \"chess\"; did you mean "
            "\"rooms_max\"?\n"
            "node.yaml:4: key \"rooms_max\" is given twice, first in line 2\n"
            "node.yaml:5: port: read \"x\"; expected a whole number from 0 to 65535, such as 42\n"
            "node.yaml:6: log_level: read \"inof\"; expected one of debug, info, error; did you "
            "mean \"info\"?\n"
            "node.yaml:7: anchors (&) and aliases (*) are not supported; write the value out\n"
            "node.yaml:8: anchors (&) and aliases (*) are not supported; write the value out");
}

TEST(LoaderTest, QuotedTextInMessagesIsCutAndEscaped) {
  EXPECT_EQ(errors("drain: \"a\\nb\"\n"),
            "node.yaml:1: drain: read \"a\\nb\"; expected true or false");
  EXPECT_EQ(errors("drain: " + std::string(1000, 'x') + "\n"),
            "node.yaml:1: drain: read \"" + std::string(60, 'x') + "\"...; expected true or false");
}

TEST(LoaderTest, OriginsListEveryValueThatIsNotADefault) {
  const auto result = load_text<NodeConfig>(
      "chess:\n  clock: 5min\npeers:\n  - weight: 2\n", "node.yaml",
      {.environment = {"COROLANE_PORT=1"}, .settings = {"chess.rooms_max=5"}});
  ASSERT_TRUE(result) << result;
  EXPECT_EQ(result->origins, (Origins{{"chess", "node.yaml:1"},
                                      {"chess.clock", "node.yaml:2"},
                                      {"chess.rooms_max", "--set chess.rooms_max"},
                                      {"peers", "node.yaml:3"},
                                      {"peers[0].weight", "node.yaml:4"},
                                      {"port", "environment COROLANE_PORT"}}));
}

class LoadFileTest : public testing::Test {
 protected:
  // Writes a file and returns its path.
  std::string file_with(std::string_view text) const {
    const std::string path = folder_.path() / "node.yaml";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  test::TemporaryFolder folder_;
};

TEST_F(LoadFileTest, AFileIsLoaded) {
  const auto result = load_file<NodeConfig>(file_with("port: 7001\n"), {.settings = {"name=x"}});
  ASSERT_TRUE(result) << result;
  EXPECT_EQ(result->value.port, 7001);
  EXPECT_EQ(result->value.name, "x");
}

TEST_F(LoadFileTest, ErrorsNameTheFileByTheGivenPath) {
  const std::string path = file_with("port: x\n");
  EXPECT_EQ(load_file<NodeConfig>(path).error().message(),
            path + ":1: port: read \"x\"; expected a whole number from 0 to 65535, such as 42");
}

TEST_F(LoadFileTest, AMissingFileIsAnError) {
  const std::string path = folder_.path() / "none.yaml";
  EXPECT_EQ(load_file<NodeConfig>(path).error(),
            Error(Code::invalid_argument, path + ": cannot be read: No such file or directory"));
}

TEST_F(LoadFileTest, ADirectoryIsAnError) {
  const std::string path = folder_.path();
  EXPECT_EQ(load_file<NodeConfig>(path).error(),
            Error(Code::invalid_argument, path + ": cannot be read: Is a directory"));
}

TEST_F(LoadFileTest, AnEndlessFileIsAnError) {
  EXPECT_EQ(load_file<NodeConfig>("/dev/zero").error().message(),
            "/dev/zero:1: larger than 1MiB, the maximum size of a configuration");
}

// A recursive list of itself, to nest as deep as a text may.
struct Tree {
  std::vector<Tree> branches;
};

void describe(Section& section, Tree& value) {
  section.field("branches", value.branches, "Smaller trees.");
}

TEST(LoaderTest, ASmallStackIsEnough) {
  if (test::under_sanitizer) GTEST_SKIP() << "sanitizers make frames larger";
  // In a coroutine a deeper recursion would hit the guard page.
  const auto load_bombs = [](void*) -> void* {
    std::string deepest = "{}";
    for (std::size_t levels = 1; levels + 2 <= detail::nesting_max; levels += 2) {
      deepest.insert(0, "{branches: [").append("]}");
    }
    EXPECT_TRUE(load_text<Tree>(deepest, "tree.yaml"));
    for (const std::string part : {"[", "{", "- ", "? ", ": ", "{branches: [", "[{"}) {
      std::string bomb;
      for (int i = 0; i < 1000; ++i) bomb += part;
      EXPECT_FALSE(load_text<Tree>(bomb, "tree.yaml"));
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 48 * 1024), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, load_bombs, nullptr), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

struct BadDefault {
  int count = 0;
};
void describe(Section& section, BadDefault& value) {
  section.field("count", value.count, "How many.", at_least(1));
}

struct BadKey {
  int count = 0;
};
void describe(Section& section, BadKey& value) {
  section.field("roomCount", value.count, "How many.");
}

struct SameKeyTwice {
  int count = 0;
};
void describe(Section& section, SameKeyTwice& value) {
  section.field("count", value.count, "How many.");
  section.field("count", value.count, "How many.");
}

TEST(LoaderDeathTest, MistakesInADescriptionAreBugs) {
  EXPECT_DEATH(static_cast<void>(load_text<BadDefault>("", "x")),
               "the default of count is within its limits");
  EXPECT_DEATH(static_cast<void>(load_text<BadKey>("", "x")), "lower_case");
  EXPECT_DEATH(static_cast<void>(load_text<SameKeyTwice>("", "x")), "described once");
}

}  // namespace
}  // namespace corolane::config
