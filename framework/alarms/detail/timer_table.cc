// SPDX-License-Identifier: MIT
#include "framework/alarms/detail/timer_table.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "coroutine/stack/stack_pool.h"
#include "framework/alarms/detail/alarm.h"
#include "framework/alarms/detail/alarm_owner.h"
#include "framework/alarms/detail/alarm_runner.h"
#include "framework/alarms/detail/timer_pace.h"
#include "framework/time/cron.h"
#include "framework/time/time_zone.h"

namespace corolane::framework::detail {
namespace {

constexpr Duration timer_interval_min = std::chrono::milliseconds(1);

// The end of a delay, capped at the end of the clock.
TimePoint time_after(Duration delay) { return Deadline::after(delay).time(); }

}  // namespace

class ObjectTimer : public Alarm {
 public:
  ObjectTimer(TimerId id, TimerTable& table, AlarmRunner& runner, AlarmOwner& owner,
              ObjectTimers::RunTick run, const TimerOptions& options)
      : Alarm(runner, owner, options.name, options.stack_size_bytes),
        id_(id),
        table_(table),
        run_(std::move(run)) {}

  TimerId id() const { return id_; }

 protected:
  void run_tick(const Tick& tick) {
    runner().count_tick(owner().counts(), tick);
    run_(tick);
  }

 private:
  void over() override { table_.cancel(id_); }

  const TimerId id_;
  TimerTable& table_;  // Valid until the timer has ended.
  ObjectTimers::RunTick run_;
};

namespace {

template <typename Pace>
class PacedTimer final : public ObjectTimer {
 public:
  template <typename... Rest>
  explicit PacedTimer(const Pace& pace, Rest&&... rest)
      : ObjectTimer(std::forward<Rest>(rest)...), pace_(pace) {}

 private:
  void act() override {
    const Running running(pace_);
    run_tick(pace_.begin());
  }
  std::optional<TimePoint> next_time() const override { return pace_.next_time(); }
  bool is_due() const override { return pace_.is_due(); }

  // Ends the run also after an exception.
  struct Running {
    explicit Running(Pace& running_pace) : pace(running_pace) {}
    ~Running() { pace.end(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

    Pace& pace;
  };

  Pace pace_;
};

}  // namespace

TimerTable::~TimerTable() {
  for (const auto& timer : timers_) timer->end();
}

template <typename Pace>
Result<TimerId> TimerTable::add(const Pace& pace, ObjectTimers::RunTick run,
                                const TimerOptions& options) {
  const std::size_t count_max = runner_.options().timer_count_max;
  if (timers_.size() >= count_max) {
    return Error(Code::resource_exhausted, std::string(owner_.type_name()) + " \"" + owner_.id() +
                                               "\" has " + std::to_string(count_max) +
                                               " timers already");
  }
  if (options.stack_size_bytes > coroutine::StackPool::stack_size_bytes_max) {
    return Error(Code::invalid_argument, "the stack of a timer is too large");
  }
  const TimerId id = runner_.next_timer_id();
  timers_.push_back(std::make_shared<PacedTimer<Pace>>(pace, id, *this, runner_, owner_,
                                                       std::move(run), options));
  timers_.back()->arm();
  return id;
}

Result<TimerId> TimerTable::after(Duration delay, ObjectTimers::Run run,
                                  const TimerOptions& options) {
  return add(
      OncePace(time_after(delay)), [run = std::move(run)](const Tick&) mutable { run(); }, options);
}

Result<TimerId> TimerTable::every(const Rhythm& rhythm, ObjectTimers::RunTick run,
                                  const TimerOptions& options) {
  if (rhythm.interval < timer_interval_min) {
    return Error(Code::invalid_argument, "the interval of a timer must be a millisecond at least");
  }
  Duration first = rhythm.first_after.value_or(rhythm.interval);
  if (rhythm.mode == Rhythm::fixed_delay) {
    return add(FixedDelayPace(time_after(first), rhythm.interval), std::move(run), options);
  }
  if (!rhythm.first_after) first -= runner_.phases().next(&owner_, rhythm.interval, now());
  return add(FixedRatePace(time_after(first), rhythm.interval), std::move(run), options);
}

Result<TimerId> TimerTable::cron(std::string_view expression, std::string_view zone,
                                 ObjectTimers::RunTick run, const TimerOptions& options) {
  auto parsed = CronExpression::parse(expression);
  if (!parsed) return parsed.error();
  auto loaded = TimeZone::load(zone);
  if (!loaded) return loaded.error();
  return add(CronPace(*parsed, *std::move(loaded), runner_.clock()), std::move(run), options);
}

void TimerTable::cancel(TimerId id) {
  const auto found = std::ranges::find(timers_, id, &ObjectTimer::id);
  if (found == timers_.end()) return;
  (*found)->end();
  timers_.erase(found);
}

}  // namespace corolane::framework::detail
