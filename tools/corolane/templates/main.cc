// The node: my_game_node --config my_game.yaml
#include <memory>

#include "framework/recording/file_recorder.h"
#include "framework/run/run_main.h"
#include "guild.h"
// {{client web}}
#include "guilds_service.h"
#include "login.h"
// {{end}}

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  using my_game::Guild;
  using my_game::GuildConfig;
  // Records with the key node.record.file; `corolane replay` runs the recording again.
  const framework::recording::FileRecorder recorder;
  const auto set_up = [](framework::Node& node, const GuildConfig& config) {
    node.host<Guild>([&config](framework::Shard&) { return std::make_unique<Guild>(config); });
    // {{client web}}
    node.serve([](framework::Shard& shard) {
      return std::make_unique<my_game::GuildsService>(shard.router());
    });
    if (config.login_by_name) node.set_login(my_game::login_by_name);
    // {{end}}
  };
  return framework::run_main(argc, argv, set_up, &recorder);
}
