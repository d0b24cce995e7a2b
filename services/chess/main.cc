// A node that serves chess: chess_node --config config/samples/chess.yaml
#include <memory>
#include <random>

#include "framework/run_main.h"
#include "services/chess/chess_service.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  namespace chess = corolane::services::chess;
  return framework::run_main(
      argc, argv, [](framework::Node& node, const chess::ChessConfig& config) {
        std::random_device entropy;
        const std::uint64_t seed = std::uint64_t{entropy()} << 32 | entropy();
        node.serve(std::make_unique<chess::ChessService>(config, seed));
      });
}
