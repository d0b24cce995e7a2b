// SPDX-License-Identifier: MIT
// The object of trade.proto that is destroyed again and again.
#pragma once

#include <utility>

#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

class Chest : public ChestObject {
 public:
  Result<ChestReply> put(const google::protobuf::Empty&, rpc::Context&) override {
    state().set_items(std::as_const(*this).state().items() + 1);
    return reply();
  }
  Result<ChestReply> take_all(const google::protobuf::Empty&, rpc::Context&) override {
    destroy();
    return reply();
  }

 private:
  ChestReply reply() const {
    ChestReply reply;
    reply.set_items(state().items());
    return reply;
  }
};

}  // namespace corolane::sim
