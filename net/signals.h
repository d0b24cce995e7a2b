// Signals as something a task can wait for.
#pragma once

#include <initializer_list>
#include <memory>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/event_loop.h"

namespace corolane::net {

class SignalWatcher {
 public:
  // Catches these signals from now on until it is destroyed.
  SignalWatcher(EventLoop& loop, std::initializer_list<int> signals);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  // Suspends until one of them arrives (or has arrived and was not yet taken); returns its number.
  // One that arrives twice before it is taken is taken once. Fails with deadline_exceeded or
  // cancelled.
  Result<int> wait(Deadline deadline);

 private:
  struct Impl;
  EventLoop& loop_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
