// SPDX-License-Identifier: MIT
// What both threads of a call share: call_on.h.
//
// The caller holds one reference, and one travels with the letter, so that it outlives a caller
// that has given up. Nothing but the letter itself is allocated, most of the time in memory of an
// earlier one. The state decides who touches the function:
//
//   queued --> begun --> ended      There, one after the other; `ended` wakes the caller.
//      |         |
//      v         v
//   taken_back  left                By the caller, which then returns.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/base/thread_cache.h"
#include "coroutine/call_on_options.h"
#include "coroutine/cancel_scope.h"
#include "coroutine/detail/mail.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/task.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {
class Scheduler;
}

namespace corolane::coroutine::detail {

// Calls the function; reports an exception to the scheduler that runs it.
template <typename T, typename F>
Result<T> result_of(F& function) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      function();
      return {};
    } else {
      return function();
    }
  } catch (const std::exception& exception) {
    return stray_exception_error(TaskAccess::running(), &exception);
  } catch (...) {
    return stray_exception_error(TaskAccess::running(), nullptr);
  }
}

// The result of a call for which the wait ended with `late` before the function did. A value and a
// reason of the function's own say more than the wait.
template <typename T>
Result<T> late_result(Result<T> result, Error late) {
  if (!result && result.error().code() == Code::cancelled) return late;
  return result;
}

// Fails, marked as not executed, when the running task is cancelled or the deadline has passed.
Result<void> check_may_call(Deadline deadline, const CallOnOptions& options);

template <typename T, typename F>
Result<T> call_here(F& function, Deadline deadline, const CallOnOptions& options) {
  if (auto may = check_may_call(deadline, options); !may) return std::move(may.error());
  CancelScope part(deadline);
  auto result = result_of<T>(function);
  if (!part.is_cancelled()) return result;
  return late_result(std::move(result), wake_error(Wake::deadline, options.waited_for));
}

class Letter : private Mail {
 public:
  // Says what happens to a function that has begun when the wait for it fails.
  enum class Late : std::uint8_t { await, leave };

  // Constructed by a task.
  Letter(Scheduler& there, std::string_view name, const CallOnOptions& options,
         const std::source_location& site);
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

  // Gives up the caller's reference.
  struct Release {
    void operator()(Letter* letter) const { letter->release(); }
  };

  const CallOnOptions& options() const { return options_; }
  // Queues the letter there. Fails with resource_exhausted, and is not used any more, when too many
  // are queued.
  Result<void> post();

 protected:
  virtual ~Letter() = default;
  // By the caller, once it is posted: suspends until the call is settled. Fails when the wait
  // failed or the function was refused.
  Result<void> settle(Deadline deadline, Late late);
  // Whether the end of the call has arrived here.
  bool has_ended() const { return has_ended_; }

 private:
  enum class State : std::uint8_t { queued, begun, ended, taken_back, left };

  // There, in the task: calls the function and keeps its result.
  virtual void run() = 0;

  static Letter& of(Mail& mail) { return static_cast<Letter&>(mail); }
  bool change(State from, State to);
  void hold() { reference_count_.fetch_add(1, std::memory_order_relaxed); }
  void release();
  // There, on the loop's stack. These take the reference that travels.
  void arrive_there();
  void drop_there();
  void begin();
  Result<TaskRef> spawn();
  void refuse(Error reason);
  void end();
  void arrive_home();
  void cancel_there();

  // Constant.
  Scheduler& home_;
  Scheduler& there_;
  static constexpr std::size_t name_size_max = TaskTop::name_size_max;
  std::array<char, name_size_max> name_text_;
  std::uint8_t name_size_;
  const CallOnOptions options_;
  const std::source_location site_;
  std::atomic<State> state_ = State::queued;
  std::atomic<std::uint32_t> reference_count_ = 1;
  // Owned by the thread there.
  TaskRef task_;
  // Owned by the thread there until the end has arrived here.
  Result<void> refusal_;
  // Owned by the caller's thread.
  bool has_ended_ = false;
  WaitQueue ended_;
};

template <typename T>
class LetterFor : public Letter {
 public:
  using Letter::Letter;

  // Calls and waits.
  Result<T> call(Deadline deadline, Late late) {
    if (auto may = check_may_call(deadline, options()); !may) return std::move(may.error());
    if (auto posted = post(); !posted) return std::move(posted.error());
    return join(deadline, late);
  }
  // By the caller, once.
  Result<T> join(Deadline deadline, Late late) {
    auto settled = settle(deadline, late);
    if (settled) return *std::move(result_);
    if (!has_ended() || !result_) return std::move(settled.error());
    return late_result(*std::move(result_), std::move(settled.error()));
  }

 protected:
  void keep(Result<T> result) { result_.emplace(std::move(result)); }

 private:
  std::optional<Result<T>> result_;  // Owned as Letter::refusal_ is.
};

template <typename T, typename F>
class LetterWith final : public LetterFor<T> {
 public:
  LetterWith(F function, Scheduler& there, std::string_view name, const CallOnOptions& options,
             const std::source_location& site)
      : LetterFor<T>(there, name, options, site), function_(std::move(function)) {}

  // The caller usually gives up the last reference, so its thread gets the memory back.
  static void* operator new(std::size_t) {
    return ThreadCache<sizeof(LetterWith), alignof(LetterWith)>::allocate();
  }
  static void operator delete(void* place) {
    ThreadCache<sizeof(LetterWith), alignof(LetterWith)>::release(place);
  }

 private:
  void run() override {
    this->keep(result_of<T>(*function_));
    function_.reset();  // It may suspend.
  }

  std::optional<F> function_;
};

template <typename T>
using LetterOf = std::unique_ptr<LetterFor<T>, Letter::Release>;

template <typename T, typename F>
LetterOf<T> make_letter(F function, Scheduler& there, std::string_view name,
                        const CallOnOptions& options, const std::source_location& site) {
  return LetterOf<T>(new LetterWith<T, F>(std::move(function), there, name, options, site));
}

}  // namespace corolane::coroutine::detail
