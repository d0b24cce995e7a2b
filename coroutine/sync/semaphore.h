// SPDX-License-Identifier: MIT
// A number of resources that tasks share, such as connections to a database: shaped like
// std::counting_semaphore, for tasks of one scheduler.
//
//   Semaphore slots(/*count=*/8);
//   auto permit = slots.hold(deadline);
//   if (!permit) return permit.error();
//   return query_database();  // The permit goes back however this ends.
//
// acquire() and release() are for what one task takes and another gives back.
//
// First come, first served: a released one goes to the longest waiter; a latecomer cannot snatch
// it.
#pragma once

#include <cstddef>
#include <optional>
#include <source_location>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/might_suspend.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

class Semaphore {
 public:
  // `waited_for` is what introspection shows of the waiting tasks; it outlives the semaphore.
  explicit Semaphore(std::size_t count, const char* waited_for = "semaphore",
                     const std::source_location& site = std::source_location::current())
      : count_(count), waiters_(waited_for, site) {}

  // How many can be acquired now.
  std::size_t count() const { return count_; }

  // Holds one of them until it is destroyed, by whatever task; must not outlive the semaphore.
  class [[nodiscard]] Permit {
   public:
    Permit(Permit&& other) noexcept : semaphore_(std::exchange(other.semaphore_, nullptr)) {}
    Permit& operator=(Permit&& other) noexcept {
      Permit moved(std::move(other));
      std::swap(semaphore_, moved.semaphore_);
      return *this;
    }
    ~Permit() {
      if (semaphore_ != nullptr) semaphore_->release();
    }

   private:
    friend class Semaphore;
    explicit Permit(Semaphore& semaphore) : semaphore_(&semaphore) {}

    Semaphore* semaphore_;
  };

  // Suspends while there is none. Fails with deadline_exceeded or cancelled.
  Result<Permit> hold(Deadline deadline) {
    if (auto acquired = acquire(deadline); !acquired) return std::move(acquired.error());
    return Permit(*this);
  }
  // Never suspends; nothing when there is none.
  std::optional<Permit> try_hold() {
    if (!try_acquire()) return std::nullopt;
    return Permit(*this);
  }

  // Suspends while there is none. Fails with deadline_exceeded or cancelled.
  Result<void> acquire(Deadline deadline) { return perform(acquiring(), deadline); }

  // Never suspends.
  bool try_acquire() {
    if (count_ == 0) return false;
    --count_;
    return true;
  }
  // Suspend while there is none; false when the deadline passed or the task was cancelled.
  bool try_acquire_until(Deadline deadline) { return acquire(deadline).has_value(); }
  bool try_acquire_for(Duration patience) { return try_acquire_until(Deadline::after(patience)); }

  // Never suspends; may be called from the loop, and by tasks that have not acquired one.
  void release(std::size_t update = 1) {
    while (update > 0 && waiters_.notify_one()) --update;
    count_ += update;
  }

  // The same as an operation, for select() and stackless coroutines.
  class Acquiring {
   public:
    using Value = void;

    explicit Acquiring(Semaphore& semaphore) : semaphore_(semaphore) {}
    bool can_complete() const { return semaphore_.count_ > 0; }
    bool try_complete() { return semaphore_.try_acquire(); }
    detail::KnownQueue& queue() { return semaphore_.waiters_; }
    void* slot() { return nullptr; }
    Result<void> finish() { return {}; }

   private:
    Semaphore& semaphore_;
  };
  Acquiring acquiring() { return Acquiring(*this); }

 private:
  std::size_t count_;  // Zero while there are waiters.
  detail::KnownQueue waiters_;
};

}  // namespace corolane::coroutine
