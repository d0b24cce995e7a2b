// SPDX-License-Identifier: MIT
// Nodes that serve chess, in one thread and virtual time, over a store that outlives them.
//
//   ChessNodes nodes;
//   ChessNode node = nodes.start();
//   node.game("g").join(request);
//   node.crash();
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "framework/directory/local_directory.h"
#include "framework/node/node.h"
#include "framework/node/node_parts.h"
#include "framework/store/memory_store.h"
#include "framework/telemetry/log.h"
#include "net/testing/network.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/hall.h"
#include "services/chess/lobby.h"
#include "services/chess/player.h"
#include "test/framework/directory/faulty_directory.h"
#include "test/framework/store/faulty_store.h"
#include "test/framework/test_node.h"

namespace corolane::services::chess {

struct ChessNode {
  std::shared_ptr<test::FaultyStore> store;
  std::shared_ptr<test::FaultyDirectory> directory;  // Null for a single node.
  std::unique_ptr<framework::Node> node;

  GameClient game(const std::string& name) const { return {node->router(), name}; }
  PlayerClient player(const std::string& name) const { return {node->router(), name}; }
  LobbyClient lobby(const std::string& kind) const { return {node->router(), kind}; }

  // Without notice: unsaved state is lost.
  void crash() {
    store->cut();
    if (directory != nullptr) directory->cut();
    node.reset();
  }
};

class ChessNodes {
 public:
  // The configuration of nodes started from then on.
  ChessConfig config{.clock = std::chrono::minutes(1),
                     .seat_time_max = std::chrono::seconds(30),
                     .finished_kept = std::chrono::seconds(5)};
  bool public_methods_only = true;
  // How a hall is hosted; nothing: it is not.
  std::optional<framework::HostOptions> hall = framework::HostOptions{.transient = true};

  // A single node. The previous one must have stopped or crashed.
  ChessNode start() { return make("alone", nullptr); }
  // One of several nodes. Suspends until it is a member.
  ChessNode join(const std::string& name) {
    return make(name, std::make_shared<test::FaultyDirectory>(table_));
  }

  sim::SimulatedNetwork& network() { return network_; }
  // The contents that all nodes share, past any faults of their connections.
  framework::MemoryStore& store() { return store_; }

 private:
  ChessNode make(const std::string& name, std::shared_ptr<test::FaultyDirectory> directory) {
    namespace framework = corolane::framework;
    ChessNode made{.store = std::make_shared<test::FaultyStore>(store_),
                   .directory = std::move(directory),
                   .node = nullptr};
    framework::NodeConfig node_config = test::node_config(name);
    node_config.clients.public_methods_only = public_methods_only;
    made.node = std::make_unique<framework::Node>(
        std::move(node_config), network_,
        framework::Log(framework::LogLevel::error, [](std::string_view) {}),
        framework::Node::Parts{.store = made.store,
                               .directory = made.directory,
                               .clock = now,
                               .wall_clock = wall_clock_});
    made.node->serve(
        [](framework::Shard& shard) { return std::make_unique<ChessService>(shard.router()); });
    made.node->host<Game>([this](framework::Shard&) { return std::make_unique<Game>(config); });
    made.node->host<Player>();
    if (hall) made.node->host<Hall>(*hall);
    made.node->host<Lobby>({.transient = true});
    const auto started = made.node->start();
    EXPECT_TRUE(started) << started;
    return made;
  }

  sim::SimulatedNetwork network_;
  framework::MemoryStore store_;
  framework::LocalDirectory table_{1'000};
  // Virtual, like all time.
  framework::WallClock wall_clock_{
      framework::WallTime(std::chrono::sys_days(std::chrono::year(2026) / 3 / 29))};
};

}  // namespace corolane::services::chess
