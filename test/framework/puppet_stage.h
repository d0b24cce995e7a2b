// SPDX-License-Identifier: MIT
// One shard that owns all partitions and hosts puppets.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "test/framework/puppet.h"
#include "test/framework/stage.h"

namespace corolane::test {

class PuppetStage : public Stage {
 public:
  // The strings outlive it.
  PuppetStage(framework::Store& store, const Puppet::Strings& strings, std::uint64_t epoch = 1,
              const framework::detail::ObjectHost::Options& options = {},
              const framework::WallClock& clock = {}, const framework::HostOptions& how = {})
      : Stage(store, epoch, options, clock, how), type(add<Puppet>(strings)) {
    start();
  }

  PuppetClient puppet(std::string id) { return PuppetClient(router, std::move(id)); }

  framework::detail::HostedType& type;
};

}  // namespace corolane::test
