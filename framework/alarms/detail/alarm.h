// Something that an object is to do at a time: one of its timers, or its next reminder.
//
// Life: armed, it waits in the timing wheel and costs no stack. When its time has come it rings:
// the runner gives it a task, which runs it when the object's turn comes. Then it is armed again,
// so that of one alarm there are never two tasks. Once it has ended it does nothing any more; the
// task that may still be there keeps it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/timer_wheel.h"

namespace corolane::framework::detail {

class AlarmRunner;
class ObjectCell;

class Alarm : public std::enable_shared_from_this<Alarm>, private coroutine::Timer {
 public:
  // `runner` outlives it; `cell` lives until it has ended, and as long as its tasks. Made by
  // std::make_shared.
  Alarm(AlarmRunner& runner, ObjectCell& cell, std::string_view name, std::size_t stack_size_bytes);
  virtual ~Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  ObjectCell& cell() const { return cell_; }
  // "package.Room/simulate".
  const std::string& label() const { return label_; }
  std::size_t stack_size_bytes() const { return stack_size_bytes_; }

  // For the time at which it is due next, unless it has a task: then at its end.
  void arm();
  void end();
  bool has_ended() const { return has_ended_; }

  // What the task does, in the object's turn, if it may. Suspends.
  void run();
  // After that, in the same turn, unless what it did has lost it.
  virtual void settle() {}

  // Around all that a task does: until its end it does not ring.
  void begin_task();
  void end_task();
  bool has_task() const { return has_task_; }

 protected:
  AlarmRunner& runner() const { return runner_; }

  virtual void act() = 0;
  // When to ring next: nothing when there is nothing left to be done.
  virtual std::optional<TimePoint> next_time() const = 0;
  // Whether there is something to be done, or it rings only to look again.
  virtual bool is_due() const { return true; }
  // There was nothing left to be done at the end of a task.
  virtual void over() {}

 private:
  void arm_at(TimePoint earliest);
  void ring();

  AlarmRunner& runner_;
  ObjectCell& cell_;
  const std::string label_;
  const std::size_t stack_size_bytes_;
  bool has_task_ = false;
  bool has_run_ = false;  // In this task.
  bool has_ended_ = false;
};

}  // namespace corolane::framework::detail
