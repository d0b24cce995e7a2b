// SPDX-License-Identifier: MIT
// Claims about config::print().
#include <gtest/gtest.h>

#include <string>

#include "config/loader.h"
#include "coroutine/testing/random.h"
#include "test/config/sample_config.h"

namespace corolane::config {
namespace {

using namespace std::chrono_literals;
using sample::ChessConfig;
using sample::LogLevel;
using sample::NodeConfig;
using sample::PeerConfig;

NodeConfig reloaded(const NodeConfig& config) {
  const auto result = load_text<NodeConfig>(print(config), "printed.yaml");
  EXPECT_TRUE(result) << result << "\n" << print(config);
  return result ? result->value : NodeConfig{};
}

TEST(PrintingTest, DefaultsArePrintedWithHelpAndLimits) {
  EXPECT_EQ(print(ChessConfig{}),
            "# How many rooms may be open at once. Allowed: at least 1.\n"
            "rooms_max: 10000  # default\n"
            "# Thinking time of each side for the whole game. Allowed: between 1s and 1d.\n"
            "clock: 10min  # default\n"
            "# Memory of a search. Allowed: at most 1GiB.\n"
            "scratch: 64KiB  # default\n");
}

TEST(PrintingTest, EachValueHasItsOrigin) {
  const auto loaded = load_text<NodeConfig>(
      "name: north\npeers:\n  - weight: 2\n  - address: \"b\"\nchess: {clock: 5min}\n", "node.yaml",
      {.environment = {"COROLANE_PORT=7001"}, .settings = {"hosts=[a]"}});
  ASSERT_TRUE(loaded) << loaded;
  EXPECT_EQ(print(loaded->value, loaded->origins), R"(# What the node is called.
name: "north"  # node.yaml:1
# Where clients connect. Allowed: at least 1.
port: 7001  # environment COROLANE_PORT
# Lower ones lead.
priority: -1  # default
# Whether to finish what runs before leaving.
drain: true  # default
# Least severity that is logged. Allowed: one of debug, info, error.
log_level: "info"  # default
# How long the directory waits for a silent node.
lease: 10s  # default
# Calls that take longer are listed. Allowed: at least 1ms.
slow_after: null  # default
# Machines to ask for the directory.
hosts: ["a"]  # --set hosts
# Pauses between attempts. Allowed: at most 1min.
retry_delays: []  # default
# Nodes to know from the start.
peers:
  -
    # Where the peer listens.
    address: "127.0.0.1:7000"  # default
    # Its share of the load. Allowed: between 0 and 10.
    weight: 2  # node.yaml:3
  -
    address: "b"  # node.yaml:4
    weight: 1  # default
# Where to copy snapshots to.
backup: null  # default
# The chess service.
chess:
  # How many rooms may be open at once. Allowed: at least 1.
  rooms_max: 10000  # default
  # Thinking time of each side for the whole game. Allowed: between 1s and 1d.
  clock: 5min  # node.yaml:5
  # Memory of a search. Allowed: at most 1GiB.
  scratch: 64KiB  # default
)");
}

TEST(PrintingTest, OriginsStayOnTheirLine) {
  const auto loaded = load_text<ChessConfig>("rooms_max: 1\n", "odd\nname.yaml");
  ASSERT_TRUE(loaded) << loaded;
  EXPECT_NE(print(loaded->value, loaded->origins).find("1  # odd\\nname.yaml:1\n"),
            std::string::npos);
}

TEST(PrintingTest, APrintedConfigurationLoadsAgain) {
  test::Random random;
  const auto below = [&](std::uint64_t bound) { return random.below(bound); };
  const auto text = [&] {
    constexpr std::string_view parts[] = {"a",  " ", "\"", "'", "\\",   "\n", "\t",   "#",
                                          ": ", "[", "}",  "ü", "null", "-",  "\x04", "5"};
    std::string result;
    for (auto count = below(8); count > 0; --count) result += parts[below(std::size(parts))];
    return result;
  };
  const auto peer = [&] { return PeerConfig{text(), static_cast<double>(below(1000)) / 100}; };
  for (int round = 0; round < 500; ++round) {
    NodeConfig config = {
        .name = text(),
        .port = static_cast<std::uint16_t>(1 + below(65'535)),
        .priority = static_cast<std::int32_t>(below(std::uint64_t{1} << 32)),
        .drain = random.one_in(2),
        .log_level = static_cast<LogLevel>(below(3)),
        .lease = std::chrono::seconds(below(1'000'000)),
        .slow_after = std::nullopt,
        .hosts = {},
        .retry_delays = {},
        .peers = {},
        .backup = std::nullopt,
        .chess = {1 + below(1'000'000), Duration(1s + Duration(below(1'000'000'000))),
                  Bytes{below(gibibyte.count)}}};
    if (random.one_in(2)) config.slow_after = Duration(1'000'000 + below(1'000'000'000'000));
    if (random.one_in(2)) config.backup = peer();
    for (auto count = below(4); count > 0; --count) config.hosts.push_back(text());
    for (auto count = below(4); count > 0; --count)
      config.retry_delays.emplace_back(below(1'000'000));
    for (auto count = below(4); count > 0; --count) config.peers.push_back(peer());
    ASSERT_EQ(reloaded(config), config) << print(config);
  }
}

// Cases that the sample lacks: lists in lists, optionals in lists and a struct without fields.
struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
void describe(Section&, Nothing&) {}

struct Nested {
  std::vector<std::vector<int>> grid = {{1, 2}, {}, {3}};
  std::vector<bool> flags = {true, false};
  std::vector<std::optional<int>> gaps = {1, std::nullopt};
  std::vector<std::optional<PeerConfig>> spares = {PeerConfig{}, std::nullopt};
  std::vector<std::vector<PeerConfig>> rings = {{PeerConfig{}, PeerConfig{"b", 2}}, {}};
  Nothing nothing;

  friend bool operator==(const Nested&, const Nested&) = default;
};
void describe(Section& section, Nested& value) {
  section.field("grid", value.grid, "Numbers.", between(0, 9));
  section.field("flags", value.flags, "Switches.");
  section.field("gaps", value.gaps, "Numbers, some of them missing.");
  section.field("spares", value.spares, "Peers, some of them missing.");
  section.field("rings", value.rings, "Groups of peers.");
  section.field("nothing", value.nothing, "No keys at all.");
}

TEST(PrintingTest, NestedTypesLoadAgain) {
  const std::string text = print(Nested{});
  EXPECT_NE(text.find("grid: [[1, 2], [], [3]]  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("flags: [true, false]  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("gaps: [1, null]  # default\n"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing: {}  # default\n"), std::string::npos) << text;
  const auto result = load_text<Nested>(text, "printed.yaml");
  ASSERT_TRUE(result) << result << "\n" << text;
  EXPECT_EQ(result->value, Nested{}) << text;
}

}  // namespace
}  // namespace corolane::config
