// SPDX-License-Identifier: MIT
// Admits calls until it is closed, and then waits for those inside: for a shutdown that drains the
// calls in flight (after seastar::gate).
//
//   auto pass = gate.enter();  // Each call.
//   if (!pass) return pass.error();
//   serve(request);
//
//   if (auto closed = gate.close(deadline); !closed) cancel_what_still_runs();  // At the end.
#pragma once

#include <cstddef>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/operation.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

class Gate {
 public:
  // Holds one place inside the gate until it is destroyed; must not outlive the gate.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      Pass moved(std::move(other));
      std::swap(gate_, moved.gate_);
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->leave();
    }

   private:
    friend class Gate;
    explicit Pass(Gate& gate) : gate_(&gate) {}

    Gate* gate_;
  };

  Gate() = default;
  ~Gate() { check(inside_count_ == 0, "no call is inside a gate that is destroyed"); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Never suspends. Fails with unavailable once the gate is closed.
  Result<Pass> enter() {
    if (closed_) return Error(Code::unavailable, "the gate is closed");
    ++inside_count_;
    return Pass(*this);
  }

  // Admits no calls from now on, and suspends until none is inside. Fails with deadline_exceeded or
  // cancelled; the gate stays closed then, and close() may be called again to keep waiting.
  Result<void> close(Deadline deadline) { return perform(closing(), deadline); }

  bool is_closed() const { return closed_; }
  std::size_t inside_count() const { return inside_count_; }

  // The same as an operation, for select() and stackless coroutines. Closes at once.
  class Closing {
   public:
    using Value = void;

    explicit Closing(Gate& gate) : gate_(gate) { gate_.closed_ = true; }
    bool try_complete() const { return gate_.inside_count_ == 0; }
    WaitQueue& queue() { return gate_.closers_; }
    void* slot() { return nullptr; }
    Result<void> finish() { return {}; }

   private:
    Gate& gate_;
  };
  Closing closing() { return Closing(*this); }

 private:
  void leave() {
    if (--inside_count_ == 0) closers_.notify_all();
  }

  bool closed_ = false;
  std::size_t inside_count_ = 0;
  WaitQueue closers_{"gate"};
};

}  // namespace corolane::coroutine
