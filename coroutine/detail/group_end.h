// SPDX-License-Identifier: MIT
// Counts the children of a group and waits for their end: the common part of TaskGroup and
// AsyncGroup.
#pragma once

#include <cstddef>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

class GroupEnd {
 public:
  explicit GroupEnd(const char* waited_for, bool cancels_on_error = false)
      : cancels_on_error_(cancels_on_error), all_ended_(waited_for) {}

  // The number of children that have not ended.
  std::size_t child_count() const { return child_count_; }
  // Whether a new child is cancelled at once.
  bool cancels_new() const { return cancels_new_ || (cancels_on_error_ && has_failed()); }
  // A child has failed since the last join.
  bool has_failed() const { return !first_error_; }

  void child_began() { ++child_count_; }
  void child_ended() {
    if (--child_count_ == 0) all_ended_.notify_all();
  }
  // Keeps the first error until a join returns it. Returns whether the other children are cancelled
  // because of it.
  bool child_failed(Error&& error) {
    if (has_failed()) return false;
    first_error_ = std::move(error);
    return cancels_on_error_;
  }

  // Suspends until no child is left. Fails with deadline_exceeded or cancelled.
  Result<void> wait(Deadline deadline);
  Result<void> take_first_error() { return std::exchange(first_error_, {}); }

  // Implement join() and, once the children are cancelled, the rest of cancel_and_join().
  Result<void> join(Deadline deadline);
  void join_cancelled();

 private:
  std::size_t child_count_ = 0;
  const bool cancels_on_error_;
  bool cancels_new_ = false;  // During join_cancelled().
  Result<void> first_error_;
  WaitQueue all_ended_;
};

}  // namespace corolane::coroutine::detail
