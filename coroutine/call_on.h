// SPDX-License-Identifier: MIT
// Runs a function on the thread of another scheduler, and waits for its result.
//
//   auto count = call_on(lobby, "count players", [&] { return players.size(); },
//                        Deadline::after(100ms));
//
// The function runs there in a task of its own, and may suspend. call_on() returns when it has
// ended, or surely never begins: captures by reference are safe. A caller that is cancelled, or
// whose deadline passes, takes back a function that has not begun; one that runs is cancelled
// there, and awaited. So a thread that hangs holds its callers only once it has begun their work.
//
//   auto reply = call_on_or_leave(shard, "serve", [call] { return call->serve(); }, deadline);
//
// call_on_or_leave() cancels a function that runs, and does not wait for it: for a thread of which
// the caller knows nothing. The function and its result then end there, so it owns what it uses.
//
//   auto score = send_call(games, "score", [&] { return game.score(); });
//   auto mine = score_here();
//   return mine + score.join(deadline).value_or(0);
//
// send_call() only sends: for several calls at once, or for work meanwhile. Its owner joins it.
//
// All are called by tasks, and suspend. `there` outlives the call, except that it may end while the
// function is still queued. It need not be running: the function begins in its next run. When it is
// the caller's own scheduler, call_on() runs the function at once, in the caller's task, as a part
// that ends at the deadline.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/call_on_options.h"
#include "coroutine/detail/letter.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine {

// The function returns T, Result<T> or nothing; the call returns Result<T>. `name` is that of the
// task there. An error of the function is returned unchanged, and a value even when it is late.
// Otherwise the call fails with
// - deadline_exceeded or cancelled: marked as not executed when the function never began, and as
//   maybe executed when it was left; if neither, it has ended with cancelled;
// - resource_exhausted, not executed: no stack is left there, or too many calls are queued
//   (SchedulerOptions::queued_call_count_max);
// - unavailable, not executed: the main task there ended first, or the scheduler did;
// - internal: an exception escaped from the function; the scheduler there reports that.
template <typename F>
auto call_on(Scheduler& there, std::string_view name, F&& function, Deadline deadline,
             const CallOnOptions& options = {},
             const std::source_location& site = std::source_location::current()) {
  using T = typename detail::JoinedType<std::invoke_result_t<F&>>::Value;
  if (&there == Scheduler::current_or_null()) {
    return detail::call_here<T>(function, deadline, options);
  }
  using Reference = std::reference_wrapper<std::remove_reference_t<F>>;
  const auto letter = detail::make_letter<T>(Reference(function), there, name, options, site);
  return letter->call(deadline, detail::Letter::Late::await);
}

// The function and its result may be destroyed on either thread.
template <typename F>
auto call_on_or_leave(Scheduler& there, std::string_view name, F function, Deadline deadline,
                      const CallOnOptions& options = {},
                      const std::source_location& site = std::source_location::current()) {
  using T = typename detail::JoinedType<std::invoke_result_t<F&>>::Value;
  if (&there == Scheduler::current_or_null()) {
    return detail::call_here<T>(function, deadline, options);
  }
  const auto letter = detail::make_letter<T>(std::move(function), there, name, options, site);
  return letter->call(deadline, detail::Letter::Late::leave);
}

// A call that was sent. Belongs to a task, as Task does.
template <typename T>
class [[nodiscard]] SentCall {
 public:
  // One that was not sent, for the reason that join() returns.
  explicit SentCall(Error refusal) : refusal_(std::move(refusal)) {}
  // Cancels the function there, unless it was joined, and suspends as call_on() does then.
  ~SentCall() {
    if (letter_ != nullptr) static_cast<void>(join(Deadline::passed()));
  }
  SentCall(SentCall&&) noexcept = default;
  SentCall& operator=(SentCall&&) = delete;

  // Once: ends as call_on() does.
  Result<T> join(Deadline deadline) {
    if (letter_ == nullptr) {
      return refusal_.value_or(Error(Code::failed_precondition, "the call was already joined"));
    }
    const auto letter = std::move(letter_);
    return letter->join(deadline, detail::Letter::Late::await);
  }

 private:
  template <typename F>
  friend auto send_call(Scheduler& there, std::string_view name, F function,
                        const CallOnOptions& options, const std::source_location& site);

  explicit SentCall(detail::LetterOf<T> letter) : letter_(std::move(letter)) {}

  detail::LetterOf<T> letter_;
  std::optional<Error> refusal_;
};

// On the caller's own scheduler, too, the function runs in a task of its own.
template <typename F>
auto send_call(Scheduler& there, std::string_view name, F function,
               const CallOnOptions& options = {},
               const std::source_location& site = std::source_location::current()) {
  using T = typename detail::JoinedType<std::invoke_result_t<F&>>::Value;
  auto letter = detail::make_letter<T>(std::move(function), there, name, options, site);
  if (auto posted = letter->post(); !posted) return SentCall<T>(std::move(posted.error()));
  return SentCall<T>(std::move(letter));
}

}  // namespace corolane::coroutine
