// SPDX-License-Identifier: MIT
// Owns any number of stackless coroutines that come and go, millions of them: the entities of a
// world.
//
//   AsyncGroup group;
//   for (Monster& monster : monsters) group.spawn(live(monster));
//   return group.join(deadline);
//
// A child costs its frame and some 120 bytes. All of it belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <source_location>

#include "coroutine/async/async.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/group_end.h"

namespace corolane::coroutine {

class AsyncGroup {
 public:
  // The place where it is made names the group in /tasks.
  AsyncGroup(const std::source_location& site = std::source_location::current()) {
    children_.site = site;
  }
  ~AsyncGroup() { cancel_and_join(); }
  AsyncGroup(const AsyncGroup&) = delete;
  AsyncGroup& operator=(const AsyncGroup&) = delete;

  // Makes `child` a member of the group; it begins when its turn comes. Never suspends; may be
  // called by anything on the scheduler's thread.
  void spawn(Async<void> child);

  // Suspends the calling task until no child is left; children may spawn more meanwhile. Then
  // returns the first error that a child returned since the last join, if any. Fails with cancelled
  // or deadline_exceeded when the task is cancelled or the deadline passes first.
  Result<void> join(Deadline deadline) { return end_.join(deadline); }

  // Asks every child to end; does not wait.
  void cancel();

  // Cancels the children, and those that they still spawn, and suspends the calling task until all
  // have ended, whether or not it is cancelled itself. Without children it may be called from
  // anywhere.
  void cancel_and_join();

  std::size_t size() const { return end_.child_count(); }

 private:
  friend void detail::async_child_failed(AsyncGroup& group, Error error);
  friend void detail::async_child_ended(AsyncGroup& group);

  detail::StrandGroup children_;
  detail::GroupEnd end_{"end of a group of stackless coroutines"};
};

}  // namespace corolane::coroutine
