// The node: my_game_node --config my_game.yaml
#include <memory>

#include "framework/recording/file_recorder.h"
#include "framework/run/run_main.h"
#include "guild.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  using my_game::Guild;
  using my_game::GuildConfig;
  // Records with the key node.record.file; `corolane replay` runs the recording again.
  const framework::recording::FileRecorder recorder;
  const auto set_up = [](framework::Node& node, const GuildConfig& config) {
    node.host<Guild>([&config](framework::Shard&) { return std::make_unique<Guild>(config); });
  };
  return framework::run_main(argc, argv, set_up, &recorder);
}
