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
  explicit GroupEnd(const char* waited_for) : all_ended_(waited_for) {}

  // The number of children that have not ended.
  std::size_t child_count() const { return child_count_; }
  // Whether a new child is cancelled at once.
  bool cancels_new() const { return cancels_new_; }

  void child_began() { ++child_count_; }
  void child_ended() {
    if (--child_count_ == 0) all_ended_.notify_all();
  }
  // Keeps the first error until a join returns it.
  void child_failed(Error&& error) {
    if (first_error_) first_error_ = std::move(error);
  }

  // Implement join() and, once the children are cancelled, the rest of cancel_and_join().
  Result<void> join(Deadline deadline);
  void join_cancelled();

 private:
  std::size_t child_count_ = 0;
  bool cancels_new_ = false;  // During join_cancelled().
  Result<void> first_error_;
  WaitQueue all_ended_;
};

}  // namespace corolane::coroutine::detail
