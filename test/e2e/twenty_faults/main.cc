// SPDX-License-Identifier: MIT
// A game server that is broken on purpose, as the first one of a new user may be by mistake.
#include <memory>

#include "framework/run/run_main.h"
#include "test/e2e/twenty_faults/faults_config.h"
#include "test/e2e/twenty_faults/gate.h"
#include "test/e2e/twenty_faults/thing.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  const auto set_up = [](framework::Node& node, const faults::FaultsConfig& config) {
    node.serve(
        [](framework::Shard& shard) { return std::make_unique<faults::Gate>(shard.router()); });
    node.host<faults::Thing>(
        [&config](framework::Shard&) { return std::make_unique<faults::Thing>(config); });
  };
  return framework::run_main(argc, argv, set_up);
}
