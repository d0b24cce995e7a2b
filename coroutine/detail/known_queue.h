// SPDX-License-Identifier: MIT
// A queue of which introspection tells more than a name: where what its tasks wait for was created
// and, for a lock, what holds it.
//
//   class Mutex {
//    public:
//     explicit Mutex(const std::source_location& site = std::source_location::current())
//         : waiters_("mutex", site) {}
//
//    private:
//     detail::KnownQueue waiters_;  // Its holder is the owner of the mutex.
//   };
//
// A wait here writes one pointer more than in a plain queue (task_wait.h); a task that need not
// wait does nothing.
#pragma once

#include <source_location>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine::detail {

class KnownQueue : public WaitQueue {
 public:
  // `waited_for` outlives the queue.
  KnownQueue(const char* waited_for, const std::source_location& site)
      : WaitQueue(waited_for), site_(site) {}

  // The same as those of WaitQueue, and known to introspection.
  Wake wait(Deadline deadline, Cancellation cancellation = Cancellation::observe,
            void* slot = nullptr);
  Result<void> wait_or_fail(Deadline deadline, void* slot = nullptr);

  const std::source_location& site() const { return site_; }
  // For what is moved. No task may wait.
  void take_names(const KnownQueue& other) {
    set_waited_for(other.waited_for());
    site_ = other.site_;
  }

  // TaskAccess::running_or_strand() of the holder of a lock; null: none, or it is no lock.
  void* holder = nullptr;

 private:
  std::source_location site_;
};

}  // namespace corolane::coroutine::detail
