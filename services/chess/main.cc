// A node that serves chess: chess_node --config config/samples/chess.yaml
#include <memory>

#include "framework/run_main.h"
#include "services/chess/chess_service.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  namespace chess = corolane::services::chess;
  return framework::run_main(argc, argv,
                             [](framework::Node& node, const chess::ChessConfig& config) {
                               node.serve(std::make_unique<chess::ChessService>(config));
                             });
}
