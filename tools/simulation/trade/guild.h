// SPDX-License-Identifier: MIT
// The object of trade.proto that has many callers.
#pragma once

#include <utility>

#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

class Guild : public GuildObject {
 public:
  Result<GuildReply> donate(const google::protobuf::Empty&, rpc::Context&) override {
    change().set_gold(state().gold() + 1);
    GuildReply reply;
    reply.set_gold(state().gold());
    return reply;
  }
};

}  // namespace corolane::sim
