// SPDX-License-Identifier: MIT
// Shows the world of a shard to clients.
#pragma once

#include <cstdint>

#include "services/wilds/wilds.corolane.h"
#include "services/wilds/world.h"

namespace corolane::services::wilds {

class WildsService : public WildsBase {
 public:
  // `router` outlives it.
  WildsService(framework::Router& router, const WildsConfig& config, std::uint64_t seed)
      : world_(router, config, seed) {}

  Result<LookReply> look(const LookRequest& request, rpc::Context& context) override;

 private:
  World world_;
};

}  // namespace corolane::services::wilds
