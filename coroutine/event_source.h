// What a scheduler waits on: the world outside its thread, and time.
//
// The scheduler knows nothing of sockets or epoll. Production gives it net::EventLoop (libuv),
// tests give it VirtualTime.
#pragma once

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"

namespace corolane::coroutine {

class EventSource : public corolane::detail::TimeSource {
 public:
  virtual ~EventSource() = default;

  // Waits until `deadline`, until wake() is called, or until something happened outside, and
  // handles what happened on the caller's stack: handlers may make tasks ready, and must not
  // suspend. With Deadline::passed() it only looks. Called by the scheduler's thread alone.
  //
  // Returns false when nothing can ever happen: no deadline, nothing outside to wait for. Then
  // every suspended task waits for another one, and the scheduler reports a deadlock.
  virtual bool wait(Deadline deadline) = 0;

  // The scheduler's main task has ended: nothing of the source may wait for its timers any more.
  virtual void run_ended() {}

  // Ends the present or the next wait(). Any thread; cheap when called repeatedly.
  virtual void wake() = 0;
};

}  // namespace corolane::coroutine
