// SPDX-License-Identifier: MIT
// A timer that calls a method of its owner, of which it is a member.
//
//   class Cache {
//    public:
//     void put(int key) {
//       keys_.push_back(key);
//       if (!forgetting_.is_armed()) forgetting_.arm(Deadline::after(1s));
//     }
//
//    private:
//     void forget() { keys_.clear(); }
//
//     std::vector<int> keys_;
//     coroutine::MemberTimer<&Cache::forget> forgetting_{*this};
//   };
#pragma once

#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "coroutine/timer_wheel.h"

namespace corolane::coroutine {

template <auto method>
class MemberTimer;

// The method runs on the loop's stack, as that of every timer: it must not suspend.
template <typename Owner, void (Owner::*method)()>
class MemberTimer<method> final : public Timer {
 public:
  explicit MemberTimer(Owner& owner)
      : Timer([](Timer& timer) { (static_cast<MemberTimer&>(timer).owner_.*method)(); }),
        owner_(owner) {}

  // In the present scheduler; again, when it is armed already.
  void arm(Deadline deadline) { Scheduler::current().timers().arm(*this, deadline); }

 private:
  Owner& owner_;
};

}  // namespace corolane::coroutine
