// SPDX-License-Identifier: MIT
// Work that an object does at a given time: one of its timers, or its next reminder.
//
// Life cycle: an armed alarm waits in the timing wheel and costs no stack. When it rings, the
// runner spawns a task, which runs it in a turn of the object. Then it is armed again, so an alarm
// has one task at a time. An ended alarm does nothing more; a task that is still running keeps it
// alive.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/timer_wheel.h"

namespace corolane::framework::detail {

class AlarmOwner;
class AlarmRunner;

class Alarm : public std::enable_shared_from_this<Alarm>, private coroutine::Timer {
 public:
  // `runner` outlives it; `owner` lives until the alarm has ended and its tasks are gone. Create it
  // with std::make_shared.
  Alarm(AlarmRunner& runner, AlarmOwner& owner, std::string_view name,
        std::size_t stack_size_bytes);
  virtual ~Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  AlarmOwner& owner() const { return owner_; }
  // "package.Room/simulate".
  const std::string& label() const { return label_; }
  std::size_t stack_size_bytes() const { return stack_size_bytes_; }

  // Arms it for its next time. While it has a task this is left to end_task().
  void arm();
  void end();
  bool has_ended() const { return has_ended_; }

  // Called by the task in the object's turn: runs act(). Suspends.
  void run();
  // Called after run() in the same turn, unless act() has lost the turn.
  virtual void settle() {}

  // Bracket the whole task: the alarm does not ring in between.
  void begin_task();
  void end_task();
  bool has_task() const { return has_task_; }

 protected:
  AlarmRunner& runner() const { return runner_; }

  virtual void act() = 0;
  // The time to ring next; nothing when no work is left.
  virtual std::optional<TimePoint> next_time() const = 0;
  // False: it rang only to check the time again.
  virtual bool is_due() const { return true; }
  // Called at the end of a task when no work is left.
  virtual void over() {}

 private:
  void arm_at(TimePoint earliest);
  void ring();

  AlarmRunner& runner_;
  AlarmOwner& owner_;
  const std::string label_;
  const std::size_t stack_size_bytes_;
  bool has_task_ = false;
  bool has_run_ = false;  // In this task.
  bool has_ended_ = false;
};

}  // namespace corolane::framework::detail
