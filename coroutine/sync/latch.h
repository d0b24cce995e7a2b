// SPDX-License-Identifier: MIT
// Waits until a number of events have happened: shaped like std::latch, for tasks of one scheduler.
//
//   Latch loaded(/*expected=*/2);
//   auto maps = spawn("maps", [&] { load_maps(), loaded.count_down(); });
//   auto items = spawn("items", [&] { load_items(), loaded.count_down(); });
//   if (auto waited = loaded.wait(deadline); !waited) return waited.error();
#pragma once

#include <cstddef>
#include <source_location>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

class Latch {
 public:
  // `waited_for` is what introspection shows of the waiting tasks; it outlives the latch.
  explicit Latch(std::size_t expected, const char* waited_for = "latch",
                 const std::source_location& site = std::source_location::current())
      : missing_count_(expected), waiters_(waited_for, site) {}

  // Wakes all waiters when the count reaches zero; it must not go below. Never suspends; may be
  // called from the loop.
  void count_down(std::size_t update = 1) {
    check(update <= missing_count_, "a latch counts down to zero and no further");
    missing_count_ -= update;
    if (missing_count_ == 0) waiters_.notify_all();
  }

  // Never suspends; true when the count is zero.
  bool try_wait() const { return missing_count_ == 0; }

  // Suspends until the count is zero. Fails with deadline_exceeded or cancelled.
  Result<void> wait(Deadline deadline) { return perform(waiting(), deadline); }
  // Counts down, then waits. A failed wait does not undo the count.
  Result<void> arrive_and_wait(Deadline deadline) {
    count_down();
    return wait(deadline);
  }

  // The wait as an operation, for select() and stackless coroutines.
  class Waiting {
   public:
    using Value = void;

    explicit Waiting(Latch& latch) : latch_(latch) {}
    bool try_complete() const { return latch_.try_wait(); }
    detail::KnownQueue& queue() { return latch_.waiters_; }
    void* slot() { return nullptr; }
    Result<void> finish() { return {}; }

   private:
    Latch& latch_;
  };
  Waiting waiting() { return Waiting(*this); }

 private:
  std::size_t missing_count_;
  detail::KnownQueue waiters_;
};

}  // namespace corolane::coroutine
