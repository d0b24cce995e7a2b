// SPDX-License-Identifier: MIT
// A node full of monsters: wilds_node --config config/samples/wilds.yaml
#include <memory>

#include "framework/run/run_main.h"
#include "services/wilds/lair.h"
#include "services/wilds/wilds_service.h"

int main(int argc, char** argv) {
  namespace framework = corolane::framework;
  using namespace corolane::services::wilds;  // NOLINT(google-build-using-namespace)
  const auto set_up = [](framework::Node& node, const WildsConfig& config) {
    node.serve([&config](framework::Shard& shard) {
      return std::make_unique<WildsService>(shard.router(), config, shard.index());
    });
    node.host<Lair>();
  };
  return framework::run_main(argc, argv, set_up);
}
