// SPDX-License-Identifier: MIT
// Guards a state that many tasks read and few change, across suspensions: shaped like
// std::shared_timed_mutex, for tasks of one scheduler.
//
//   SharedMutex mutex;
//   auto reader = spawn("reader", [&] {
//     std::shared_lock lock(mutex);
//     return draw(world, deadline);
//   });
//   std::scoped_lock lock(mutex);
//   change(world, deadline);
//
// First come, first served: a writer that waits holds up the readers behind it, so that neither
// side starves. Hence not recursive, for readers either: with a writer in between, the second
// lock_shared() of a task would wait for its first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coroutine/base/deadline.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
namespace detail {
struct TaskControl;
}  // namespace detail

class SharedMutex {
 public:
  SharedMutex() = default;
  ~SharedMutex();
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  // Suspends until the lock is held; cancellation does not end it, so that std::scoped_lock works.
  void lock();
  // Never suspends; false also when others wait. For tasks only, as are all of these functions.
  bool try_lock();
  // Suspend until the lock is held; false when the deadline passed or the task was cancelled.
  bool try_lock_until(Deadline deadline);
  bool try_lock_for(Duration patience) { return try_lock_until(Deadline::after(patience)); }
  // Never suspends. Only the task that holds the lock may call it.
  void unlock();

  // The same, for a lock that is shared with other readers.
  void lock_shared();
  bool try_lock_shared();
  bool try_lock_shared_until(Deadline deadline);
  bool try_lock_shared_for(Duration patience) {
    return try_lock_shared_until(Deadline::after(patience));
  }
  void unlock_shared();

  // Whether a task waits for the lock.
  bool has_waiters() const { return !waiters_.empty(); }

 private:
  enum class Mode : std::uint8_t { exclusive, shared };
  struct Waiter;

  bool lock_until(Mode mode, Deadline deadline, Cancellation cancellation);
  bool has_room_for(Mode mode) const;
  void enter(const Waiter& waiter);
  // Admits waiters from the head of the queue while there is room for them.
  void admit();

  detail::TaskControl* writer_ = nullptr;
  std::size_t reader_count_ = 0;
  WaitQueue waiters_{"shared mutex"};
};

}  // namespace corolane::coroutine
