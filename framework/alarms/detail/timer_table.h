// SPDX-License-Identifier: MIT
// The timers of one object: the implementation of ObjectTimers.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/alarms/object_timers.h"

namespace corolane::framework::detail {

class AlarmOwner;
class AlarmRunner;
class ObjectTimer;

class TimerTable {
 public:
  // Both outlive it.
  TimerTable(AlarmRunner& runner, AlarmOwner& owner) : runner_(runner), owner_(owner) {}
  ~TimerTable();
  TimerTable(const TimerTable&) = delete;
  TimerTable& operator=(const TimerTable&) = delete;

  Result<TimerId> after(Duration delay, ObjectTimers::Run run, const TimerOptions& options);
  Result<TimerId> every(const Rhythm& rhythm, ObjectTimers::RunTick run,
                        const TimerOptions& options);
  Result<TimerId> cron(std::string_view expression, std::string_view zone,
                       ObjectTimers::RunTick run, const TimerOptions& options);
  void cancel(TimerId id);
  std::size_t size() const { return timers_.size(); }

 private:
  template <typename Pace>
  Result<TimerId> add(const Pace& pace, ObjectTimers::RunTick run, const TimerOptions& options);

  AlarmRunner& runner_;
  AlarmOwner& owner_;
  std::vector<std::shared_ptr<ObjectTimer>> timers_;
};

}  // namespace corolane::framework::detail
