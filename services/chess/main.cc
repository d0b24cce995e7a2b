// SPDX-License-Identifier: MIT
// A node that serves chess: chess_node --config config/samples/chess.yaml
#include <chrono>
#include <memory>

#include "framework/recording/file_recorder.h"
#include "framework/run/run_main.h"
#include "services/chess/chess_service.h"
#include "services/chess/game.h"
#include "services/chess/hall.h"
#include "services/chess/lobby.h"
#include "services/chess/player.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  namespace framework = corolane::framework;
  using namespace corolane::services::chess;  // NOLINT(google-build-using-namespace)
  const framework::recording::FileRecorder recorder;
  const auto set_up = [](framework::Node& node, const ChessConfig& config) {
    node.serve(
        [](framework::Shard& shard) { return std::make_unique<ChessService>(shard.router()); });
    node.host<Game>([&config](framework::Shard&) { return std::make_unique<Game>(config); });
    node.host<Player>({.idle_time_max = 1min});
    // A player may look on by a second device.
    node.host_users({.devices_max = 2});
    // Each player who waits for an opponent has a call in the mailbox.
    node.host<Hall>({.transient = true, .idle_time_max = 1h});
    node.host<Lobby>({.transient = true, .mailbox_max = 10'000});
  };
  return framework::run_main(argc, argv, set_up, &recorder);
}
