// SPDX-License-Identifier: MIT
// A scheduler's view of the world outside its thread, and of time.
//
//   class Frames final : public EventSource {
//    public:
//     TimePoint now() const override { return std::chrono::steady_clock::now(); }
//     bool wait(Deadline deadline) override {
//       window.handle_events_until(earlier(deadline, next_frame));
//       return true;
//     }
//     void wake() override { window.wake(); }
//   };
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

  // Waits until `deadline`, until wake() is called, or until something happens outside, and handles
  // outside events on the caller's stack: handlers may make tasks ready, and must not suspend. With
  // Deadline::passed() it only polls. Called by the scheduler's thread alone.
  //
  // Returns false when nothing can ever happen: no deadline, and nothing outside to wait for. Then
  // every suspended task waits for another task, and the scheduler reports a deadlock.
  virtual bool wait(Deadline deadline) = 0;

  // The scheduler's main task has ended: the source must no longer wait for its timers.
  virtual void run_ended() {}

  // Ends the present or the next wait(). Callable from any thread; cheap when called repeatedly. A
  // thread that is preempted inside of it does not keep others from waking the source.
  virtual void wake() = 0;
};

}  // namespace corolane::coroutine
