// SPDX-License-Identifier: MIT
// One established connection through a ChaosProxy: both streams, both directions, their tasks.
//
//   ChaosLink link({.trace = trace, .number = 1, .break_off = break_off}, std::move(client),
//                  std::move(target), plan, random);
//   link.run();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "coroutine/task_group.h"
#include "net/stream.h"
#include "net/testing/chaos_lane.h"

namespace corolane::test {

class ChaosLink {
 public:
  // References into the proxy, which outlives the link.
  struct Surroundings {
    ChaosTrace& trace;
    std::uint64_t number;
    const std::function<void(net::Stream&)>& break_off;
  };

  ChaosLink(Surroundings surroundings, std::unique_ptr<net::Stream> client,
            std::unique_ptr<net::Stream> target, const ChaosPlan& plan, Random& random);

  // Suspends until both directions have ended.
  void run();

  // None of these suspends.
  ChaosLane& lane(ChaosDirection direction) {
    return direction == ChaosDirection::to_target ? to_target_ : to_client_;
  }
  void inject(ChaosFault fault);
  void resume();
  void heal();

 private:
  ChaosLane::Way way(ChaosDirection direction);
  void end(ChaosEvent::Kind kind, ChaosDirection direction);

  Surroundings surroundings_;
  std::unique_ptr<net::Stream> client_;
  std::unique_ptr<net::Stream> target_;
  ChaosLane to_target_;
  ChaosLane to_client_;
  bool ended_ = false;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::test
