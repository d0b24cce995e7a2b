// SPDX-License-Identifier: MIT
// The object of trade.proto that is destroyed again and again.
#pragma once

#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "tools/simulation/trade/trade.corolane.h"

namespace corolane::sim {

// Its last hook does not behave: it calls another chest, which may move at the same time, and does
// not return.
class Chest : public ChestObject {
 public:
  void on_deactivate() override {
    static_cast<void>(ChestClient(router(), id() == "chest-0" ? "chest-1" : "chest-0").look({}));
    static_cast<void>(coroutine::sleep_for(std::chrono::hours(1)));
  }
  Result<ChestReply> look(const google::protobuf::Empty&, rpc::Context&) const override {
    return reply();
  }
  Result<ChestReply> put(const google::protobuf::Empty&, rpc::Context&) override {
    change().set_items(state().items() + 1);
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
