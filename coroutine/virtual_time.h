// SPDX-License-Identifier: MIT
// Time that passes only when every task waits: a sleep of a year takes no real time, and ends
// exactly on its deadline. The EventSource of tests.
//
//   VirtualTime time;
//   Scheduler scheduler(time);
//   auto ran = scheduler.run("main", [] { check(sleep_for(24h).has_value(), "no time at all"); });
#pragma once

#include <condition_variable>
#include <mutex>

#include "coroutine/event_source.h"

namespace corolane::coroutine {

class VirtualTime : public EventSource {
 public:
  TimePoint now() const override { return now_; }
  // Jumps to `deadline` at once. With Deadline::never() nothing can end the wait and it returns
  // false, unless an Outside is alive: then it blocks for real until wake().
  bool wait(Deadline deadline) override;
  void wake() override;

  // While one is alive, another thread is at work and may call wake(): time stands still rather
  // than jump ahead of it.
  class Outside {
   public:
    explicit Outside(VirtualTime& time);
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

   private:
    VirtualTime& time_;
  };

 private:
  TimePoint now_{};
  std::mutex mutex_;
  std::condition_variable woken_;
  bool wake_pending_ = false;  // Guarded by mutex_.
  int outside_count_ = 0;      // Used by the scheduler's thread alone.
};

}  // namespace corolane::coroutine
