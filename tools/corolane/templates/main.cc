// The node: my_game_node --config my_game.yaml
#include <memory>

#include "framework/run/run_main.h"
#include "guild.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  using my_game::Guild;
  using my_game::GuildConfig;
  return framework::run_main(argc, argv, [](framework::Node& node, const GuildConfig& config) {
    node.host<Guild>([&config](framework::Shard&) { return std::make_unique<Guild>(config); });
  });
}
