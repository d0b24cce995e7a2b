// SPDX-License-Identifier: MIT
// Opens a span for each wait for a coroutine::Mutex or SharedMutex in a sampled trace: "wait for
// lock", with the lock's name, where it was made, and the task that holds it.
//
//   rpc::Tracer tracer({.sample_ratio = 0.01}, [&](const rpc::SpanRecord& span) { show(span); });
//   const rpc::LockSpans lock_spans(tracer);
#pragma once

#include <memory>

#include "coroutine/scheduler.h"
#include "coroutine/sync/lock_observer.h"

namespace corolane::rpc {

class Tracer;

// For the scheduler that runs on this thread, until it is destroyed there. Only the first one of a
// scheduler is told. `tracer` outlives it.
class LockSpans final : private coroutine::LockObserver {
 public:
  explicit LockSpans(Tracer& tracer)
      : tracer_(tracer), recording_(coroutine::Scheduler::current().record(*this)) {}
  LockSpans(const LockSpans&) = delete;
  LockSpans& operator=(const LockSpans&) = delete;

 private:
  std::unique_ptr<Wait> begin(const coroutine::LockWait& lock) override;

  Tracer& tracer_;
  const coroutine::Recording<coroutine::LockObserver> recording_;
};

}  // namespace corolane::rpc
