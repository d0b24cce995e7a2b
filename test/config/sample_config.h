// SPDX-License-Identifier: MIT
// A configuration with a field of every type for the tests of this folder.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/choice.h"
#include "config/section.h"
#include "config/units.h"

namespace corolane::config::sample {

using namespace std::chrono_literals;

enum class LogLevel { debug, info, error };

constexpr auto choices(LogLevel) {
  return std::to_array<Choice<LogLevel>>(
      {{"debug", LogLevel::debug}, {"info", LogLevel::info}, {"error", LogLevel::error}});
}

struct ChessConfig {
  std::size_t rooms_max = 10'000;
  Duration clock = 10min;
  Bytes scratch = 64 * kibibyte;

  friend bool operator==(const ChessConfig&, const ChessConfig&) = default;
};

inline void describe(Section& section, ChessConfig& value) {
  section.field("rooms_max", value.rooms_max, "How many rooms may be open at once.", at_least(1));
  section.field("clock", value.clock, "Thinking time of each side for the whole game.",
                between(1s, 24h));
  section.field("scratch", value.scratch, "Memory of a search.", at_most(1 * gibibyte));
}

struct PeerConfig {
  std::string address = "127.0.0.1:7000";
  double weight = 1.0;

  friend bool operator==(const PeerConfig&, const PeerConfig&) = default;
};

inline void describe(Section& section, PeerConfig& value) {
  section.field("address", value.address, "Where the peer listens.");
  section.field("weight", value.weight, "Its share of the load.", between(0.0, 10.0));
}

struct NodeConfig {
  std::string name = "node";
  std::uint16_t port = 7000;
  std::int32_t priority = -1;
  bool drain = true;
  LogLevel log_level = LogLevel::info;
  std::chrono::seconds lease = 10s;
  std::optional<Duration> slow_after;
  std::vector<std::string> hosts = {"alpha", "beta"};
  std::vector<Duration> retry_delays;
  std::vector<PeerConfig> peers;
  std::optional<PeerConfig> backup;
  ChessConfig chess;

  friend bool operator==(const NodeConfig&, const NodeConfig&) = default;
};

inline void describe(Section& section, NodeConfig& value) {
  section.field("name", value.name, "What the node is called.");
  section.field("port", value.port, "Where clients connect.", at_least(1));
  section.field("priority", value.priority, "Lower ones lead.");
  section.field("drain", value.drain, "Whether to finish what runs before leaving.");
  section.field("log_level", value.log_level, "Least severity that is logged.");
  section.field("lease", value.lease, "How long the directory waits for a silent node.");
  section.field("slow_after", value.slow_after, "Calls that take longer are listed.",
                at_least(1ms));
  section.field("hosts", value.hosts, "Machines to ask for the directory.");
  section.field("retry_delays", value.retry_delays, "Pauses between attempts.", at_most(1min));
  section.field("peers", value.peers, "Nodes to know from the start.");
  section.field("backup", value.backup, "Where to copy snapshots to.");
  section.field("chess", value.chess, "The chess service.");
}

}  // namespace corolane::config::sample
