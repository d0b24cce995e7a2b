// SPDX-License-Identifier: MIT
// A timer wheel with a million live timers, whose deadlines lie at random within the next minute.
// Time is a number here, so that only the wheel is measured.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/timer_wheel.h"
#include "tools/benchmarks/order.h"
#include "tools/benchmarks/ours/functions.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using coroutine::Timer;
using coroutine::TimerWheel;

constexpr std::size_t live_count = 1'000'000;
constexpr std::size_t spare_count = 20'000;
constexpr Duration horizon = 60s;
// Long enough to include several moves of distant timers to lower levels: they belong to the cost.
constexpr Duration firing_time = 16s;

class Alarm : public Timer {
 public:
  Alarm() : Timer(&Alarm::on_deadline) {}
  static inline std::vector<Alarm*> fired;

 private:
  static void on_deadline(Timer& timer) { fired.push_back(static_cast<Alarm*>(&timer)); }
};

class CrowdedWheel {
 public:
  CrowdedWheel() {
    Alarm::fired.reserve(live_count);
    for (std::size_t index = 0; index < live_count; ++index) arm_at_random(alarms_[index]);
  }
  ~CrowdedWheel() {
    for (std::size_t index = 0; index < live_count + spare_count; ++index) alarms_[index].cancel();
  }
  CrowdedWheel(const CrowdedWheel&) = delete;
  CrowdedWheel& operator=(const CrowdedWheel&) = delete;

  // Arms further timers, and cancels them when the watch has stopped.
  Result<std::size_t> arm(Stopwatch& watch, std::size_t op_count) {
    const std::size_t count = std::min(op_count, spare_count);
    Alarm* const spares = &alarms_[live_count];
    std::vector<Deadline> deadlines;
    for (std::size_t index = 0; index < count; ++index) deadlines.push_back(random_deadline());
    watch.start();
    for (std::size_t index = 0; index < count; ++index) wheel_.arm(spares[index], deadlines[index]);
    watch.stop();
    check(wheel_.armed_count() == live_count + count, "every timer was armed");
    for (std::size_t index = 0; index < count; ++index) spares[index].cancel();
    return count;
  }

  // Cancels live timers in random order, and arms them again when the watch has stopped.
  Result<std::size_t> cancel_random(Stopwatch& watch, std::size_t op_count) {
    const std::size_t count = std::min(op_count, spare_count);
    if (next_chosen_ + count > live_count) {
      // Timers that were armed together lie together: a second pass in the same order would find
      // them so.
      shuffle(choices_, engine_);
      next_chosen_ = 0;
    }
    const std::size_t* const chosen = &choices_[next_chosen_];
    watch.start();
    for (std::size_t index = 0; index < count; ++index) alarms_[chosen[index]].cancel();
    watch.stop();
    check(wheel_.armed_count() == live_count - count, "every timer was cancelled");
    for (std::size_t index = 0; index < count; ++index) arm_at_random(alarms_[chosen[index]]);
    next_chosen_ += count;
    return count;
  }

  // Advances time a millisecond at a time, which fires due timers. Every quarter of a second the
  // fired timers are armed again, unwatched.
  Result<std::size_t> fire(Stopwatch& watch) {
    std::size_t fired_count = 0;
    for (const TimePoint end = time_ + firing_time; time_ < end;) {
      watch.start();
      for (int step = 0; step < 250; ++step) wheel_.advance(time_ += 1ms);
      watch.stop();
      fired_count += Alarm::fired.size();
      for (Alarm* const alarm : Alarm::fired) arm_at_random(*alarm);
      Alarm::fired.clear();
    }
    check(wheel_.armed_count() == live_count, "every timer that fired was armed again");
    return fired_count;
  }

 private:
  Deadline random_deadline() {
    const auto nanoseconds = engine_() % static_cast<std::uint64_t>(horizon.count());
    return Deadline::at(time_ + Duration(static_cast<Duration::rep>(nanoseconds)));
  }
  void arm_at_random(Alarm& alarm) { wheel_.arm(alarm, random_deadline()); }

  std::mt19937_64 engine_;
  TimePoint time_;
  TimerWheel wheel_{time_};
  const std::unique_ptr<Alarm[]> alarms_ = std::make_unique<Alarm[]>(live_count + spare_count);
  std::vector<std::size_t> choices_ = turn_order(live_count, /*random=*/true);
  std::size_t next_chosen_ = 0;
};

// Timers that share a slot, 20 ms ahead: fixed-rate timers that were set together.
class SharedSlot {
 public:
  SharedSlot() {
    for (std::size_t index = 0; index < shared_count; ++index) {
      wheel_.arm(alarms_[index], Deadline::at(time_ + 20ms));
    }
  }
  ~SharedSlot() {
    for (std::size_t index = 0; index < shared_count; ++index) alarms_[index].cancel();
  }
  SharedSlot(const SharedSlot&) = delete;
  SharedSlot& operator=(const SharedSlot&) = delete;

  // Does what the loop does in each turn that ends idle, while none of the timers is due.
  Result<std::size_t> turn_idly(Stopwatch& watch, std::size_t op_count) {
    std::size_t count = 0;
    watch.start();
    while (count < op_count) {
      wheel_.collect_due(time_);
      if (wheel_.next() != Deadline::at(time_ + 20ms)) break;
      ++count;
    }
    watch.stop();
    check(count == op_count, "the next timer is known");
    return count;
  }

 private:
  static constexpr std::size_t shared_count = 50'000;

  TimePoint time_{1h};
  TimerWheel wheel_{time_};
  const std::unique_ptr<Alarm[]> alarms_ = std::make_unique<Alarm[]>(shared_count);
};

}  // namespace

Result<Measurement> our_timer(TimerStep step) {
  if (step == TimerStep::idle_turn) {
    SharedSlot slot;
    return time_batches(
        [&](Stopwatch& watch, std::size_t op_count) { return slot.turn_idly(watch, op_count); });
  }
  CrowdedWheel wheel;
  return time_batches([&](Stopwatch& watch, std::size_t op_count) {
    switch (step) {
      case TimerStep::arm:
        return wheel.arm(watch, op_count);
      case TimerStep::cancel_random:
        return wheel.cancel_random(watch, op_count);
      case TimerStep::fire:
      case TimerStep::idle_turn:
        break;
    }
    return wheel.fire(watch);
  });
}

}  // namespace corolane::bench
