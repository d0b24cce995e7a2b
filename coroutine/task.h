// SPDX-License-Identifier: MIT
// A task: a function that runs in a coroutine of its own, and the handle that owns it.
//
//   auto left = spawn("left", [&] { return load(left_id); });
//   auto right = spawn("right", [&] { return load(right_id); });
//   return sum(left.join(deadline), right.join(deadline));  // A function of yours.
//
// There is no detach: every task has an owner, a Task or a TaskGroup, that cancels and joins it.
// Cancellation is a value: every call of a cancelled task that would suspend returns
// Code::cancelled, at once and every time, and the task ends by returning. All of it belongs to
// one scheduler's thread.
#pragma once

#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/operation.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {

// Names a task without owning it, for cancelling. It may outlive the task, but not the scheduler.
class TaskRef {
 public:
  TaskRef() = default;

  // Asks the task to end; does not wait for it. Does nothing to a task that has ended, and nothing
  // without a task.
  void cancel() const {
    if (control_ != nullptr && top_->id == id_) control_->cancel();
  }
  explicit operator bool() const { return control_ != nullptr; }
  // 0 without a task.
  TaskId id() const { return id_; }

 private:
  friend class TaskGroup;
  explicit TaskRef(detail::TaskControl& control)
      : control_(&control), top_(&control.top()), id_(top_->id) {}

  detail::TaskControl* control_ = nullptr;
  // The stack of an ended task stays mapped. Its next task has the top at the same place, and
  // another id.
  const detail::TaskTop* top_ = nullptr;
  TaskId id_ = 0;
};

template <typename T>
class [[nodiscard]] Task {
 public:
  Task() = default;
  // Like std::jthread: a task that is still owned is cancelled and joined. Suspends until it has
  // ended, whether or not the calling task is cancelled.
  ~Task() { finish(); }
  Task(Task&& other) noexcept
      : control_(std::exchange(other.control_, nullptr)),
        read_result_(other.read_result_),
        refusal_(std::exchange(other.refusal_, std::nullopt)) {}
  Task& operator=(Task&& other) noexcept {
    finish();
    control_ = std::exchange(other.control_, nullptr);
    read_result_ = other.read_result_;
    refusal_ = std::exchange(other.refusal_, std::nullopt);
    return *this;
  }

  // Suspends until the task has ended and returns the result of its function: a T or an Error. An
  // exception that escaped the function becomes Code::internal; a task that got no stack ends at
  // once with resource_exhausted, or with invalid_argument when it asked for too large a one. When
  // the caller is cancelled or the deadline passes first, that is the error and the task stays
  // owned.
  [[gnu::always_inline]] Result<T> join(Deadline deadline);

  // The same as an operation, for select() and stackless coroutines.
  class Joining;
  Joining joining() { return Joining(*this); }

  // Asks the task to end; does not wait for it. Does nothing to a task that has ended.
  void cancel() {
    if (control_ != nullptr) control_->cancel();
  }

  // True when join() need not wait.
  bool is_done() const { return control_ == nullptr || control_->state == TaskState::ended; }

 private:
  template <typename F>
  friend auto spawn(std::string_view name, F&& body, TaskOptions options,
                    const std::source_location& site);
  // Takes the result out of the task's frame, whose type only spawn() knows.
  using ReadResult = Result<T> (*)(detail::TaskControl&);

  Task(detail::TaskControl& control, ReadResult read_result)
      : control_(&control), read_result_(read_result) {}
  explicit Task(Error refusal) : refusal_(std::move(refusal)) {}

  Error refusal() const {
    if (refusal_) return *refusal_;
    return Error(Code::failed_precondition, "there is no task, or it was already joined");
  }

  Result<T> take_result() {
    detail::TaskControl& control = *std::exchange(control_, nullptr);
    Result<T> result = read_result_(control);
    detail::TaskAccess::drop_reference(control);
    return result;
  }

  void finish() {
    // Meanwhile another task may have joined it, or put a new one in its place.
    while (control_ != nullptr) {
      control_->cancel();
      if (!is_done()) {
        control_->joiners.wait(Deadline::never(), Cancellation::ignore);
      } else {
        static_cast<void>(take_result());
      }
    }
  }

  detail::TaskControl* control_ = nullptr;
  ReadResult read_result_ = nullptr;
  std::optional<Error> refusal_;  // Why there is no task, if it was refused.
};

// Queues `body` as a new task of the running scheduler and returns its owner; never suspends.
// `name` is for people; its first 31 bytes are kept. `body` returns T, Result<T> or nothing.
template <typename F>
auto spawn(std::string_view name, F&& body, TaskOptions options = {},
           const std::source_location& site = std::source_location::current()) {
  using T = typename detail::JoinedType<std::invoke_result_t<std::decay_t<F>&>>::Value;
  using Frame = detail::TaskFrame<std::decay_t<F>, T>;
  auto spawned = detail::spawn_frame<T>(name, std::forward<F>(body), options, site, nullptr);
  if (!spawned) return Task<T>(std::move(spawned.error()));
  return Task<T>(**spawned, [](detail::TaskControl& control) {
    return static_cast<Frame&>(control).result.take();
  });
}

template <typename T>
class Task<T>::Joining {
 public:
  using Value = T;

  bool try_complete() const { return task_.is_done(); }
  WaitQueue& queue() { return task_.control_->joiners; }
  void* slot() { return nullptr; }
  Result<T> finish() {
    // Another task may just have joined it, and even put a new one in its place.
    if (task_.control_ == nullptr || !task_.is_done()) return task_.refusal();
    return task_.take_result();
  }

 private:
  friend class Task;
  explicit Joining(Task& task) : task_(task) {}

  Task& task_;
};

template <typename T>
[[gnu::always_inline]] inline Result<T> Task<T>::join(Deadline deadline) {
  return perform(joining(), deadline);
}

namespace detail {
// Why yield() did not simply yield.
Error yield_refused();
}  // namespace detail

// Lets the other ready tasks run first. Fails with cancelled only.
[[gnu::always_inline]] inline Result<void> yield() {
  if (detail::TaskAccess::yield() == 0) [[likely]] {
    return {};
  }
  return detail::yield_refused();
}

// Suspends until the deadline; need not suspend when that has passed: call yield() to let others
// run. Fails with cancelled only: at once when the task is cancelled.
Result<void> sleep_until(Deadline deadline);
inline Result<void> sleep_for(Duration duration) { return sleep_until(Deadline::after(duration)); }

// True when the running task was cancelled: for long computations between suspending calls. Only in
// a task: a stackless coroutine learns of it from the result of a co_await.
inline bool is_cancelled() { return detail::TaskAccess::running().is_cancelled(); }

}  // namespace corolane::coroutine
