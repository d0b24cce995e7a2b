// SPDX-License-Identifier: MIT
// Destroys what has ended while it was being called: a stream may not be destroyed by the code that
// it calls, and its owner hears of its end from just there.
//
//   Graveyard<Connection> ended_connections;
//   ended_connections.bury(std::move(connection));
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "coroutine/timer_wheel.h"

namespace corolane::net {

template <typename T>
class Graveyard : private coroutine::Timer {
 public:
  Graveyard() : Timer([](Timer& timer) { static_cast<Graveyard&>(timer).clear(); }) {}

  // Destroys it in the next turn, on the loop's stack. No task may be inside one of its calls, nor
  // enter one. Never suspends.
  void bury(std::unique_ptr<T> ended) {
    buried_.push_back(std::move(ended));
    if (!holds_) coroutine::Scheduler::current().timers().arm(*this, Deadline::passed());
  }

  // Keeps all until clear(), for an owner that is about to suspend inside calls of those that it
  // has: one of them may end meanwhile.
  void hold() {
    holds_ = true;
    Timer::cancel();
  }
  void clear() {
    holds_ = false;
    Timer::cancel();
    const auto ended = std::exchange(buried_, {});
  }

 private:
  std::vector<std::unique_ptr<T>> buried_;
  bool holds_ = false;
};

}  // namespace corolane::net
