// SPDX-License-Identifier: MIT
// The awaitables that until() returns.
//
// An awaitable is only a reference to the operation, which lives as long as the co_await
// expression. All other state is in the strand, so that a coroutine that waits in many places has a
// small frame. For the same reason a wait without a value yields one word, a Waited, instead of the
// two of a Result<void>: compilers keep both in the frame.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/operation.h"
#include "coroutine/sync/detail/selection.h"

namespace corolane::coroutine::detail {

// Must be made and awaited in one expression: the operation, and the deadline in the strand, last
// no longer.
struct AsyncWait {
  AsyncWait() = default;
  AsyncWait(const AsyncWait&) = delete;
  AsyncWait& operator=(const AsyncWait&) = delete;
};

// The awaiter of an awaitable that has a name: compilers say that it has no await_ready. A
// temporary is its own awaiter, since another one beside it would take room in the frame.
struct MustBeAwaitedInTheExpressionThatMakesIt {};
template <typename W>
  requires(std::is_lvalue_reference_v<W> &&
           std::derived_from<std::remove_reference_t<W>, AsyncWait>)
MustBeAwaitedInTheExpressionThatMakesIt operator co_await(W&&) {
  return {};
}

// A Result<void> in one word.
class [[nodiscard]] Waited {
 public:
  Waited() = default;
  Waited(Error error) : error_(std::make_unique<Error>(std::move(error))) {}
  Waited(Result<void> result) {
    if (!result) error_ = std::make_unique<Error>(std::move(result.error()));
  }

  bool has_value() const { return error_ == nullptr; }
  explicit operator bool() const { return has_value(); }
  // There must be one.
  const Error& error() const { return *error_; }
  operator Result<void>() const {
    if (!has_value()) return *error_;
    return {};
  }

 private:
  std::unique_ptr<Error> error_;
};

template <typename T>
using AsyncResult = std::conditional_t<std::is_void_v<T>, Waited, Result<T>>;

// Waits for one operation.
template <Operation O>
class [[nodiscard]] OperationWait : public AsyncWait {
 public:
  OperationWait(Deadline deadline, O& operation) : operation_(operation) {
    Strand::running().plan(deadline);
  }

  bool await_ready() { return !TaskAccess::explores_suspensions() && try_complete(); }
  bool await_suspend(std::coroutine_handle<> leaf) {
    if (TaskAccess::explores_suspensions()) [[unlikely]] {
      return Strand::running().explore(*this, leaf);
    }
    return wait(leaf);
  }
  AsyncResult<typename O::Value> await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() != Wake::notified) [[unlikely]] {
      return strand.wait_error();
    }
    return operation_.finish();
  }

 private:
  friend class Strand;

  bool can_complete() const { return detail::can_complete(operation_); }
  bool try_complete() {
    if (!operation_.try_complete()) return false;
    Strand::running().note_complete();
    return true;
  }
  bool wait(std::coroutine_handle<> leaf) {
    return Strand::running().wait_in(operation_.queue(), operation_.slot(), leaf);
  }

  O& operation_;
};

// Waits for one operation without a deadline and although the strand is cancelled; it must be.
template <Operation O>
class [[nodiscard]] EndWait : public AsyncWait {
 public:
  explicit EndWait(O operation) : operation_(operation) {}

  bool await_ready() { return operation_.try_complete(); }
  bool await_suspend(std::coroutine_handle<> leaf) {
    return Strand::running().wait_to_end_in(operation_.queue(), leaf);
  }
  Result<typename O::Value> await_resume() { return operation_.finish(); }

 private:
  O operation_;
};

// Waits for the first of several operations.
template <Operation... Os>
class [[nodiscard]] SelectWait : public AsyncWait {
 public:
  SelectWait(Deadline deadline, Os&... operations) : selection_(operations...) {
    Strand::running().plan(deadline);
  }

  bool await_ready() { return !TaskAccess::explores_suspensions() && try_complete(); }
  bool await_suspend(std::coroutine_handle<> leaf) {
    if (TaskAccess::explores_suspensions()) [[unlikely]] {
      return Strand::running().explore(*this, leaf);
    }
    return wait(leaf);
  }
  Result<typename Selection<Os...>::Value> await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() != Wake::notified) [[unlikely]] {
      return strand.wait_error();
    }
    return selection_.finish(at_once_ < selection_.count ? at_once_ : strand.notified_place());
  }

 private:
  friend class Strand;

  bool can_complete() const { return false; }
  bool try_complete() {
    at_once_ = selection_.try_complete();
    if (at_once_ == selection_.count) return false;
    Strand::running().note_complete();
    return true;
  }
  bool wait(std::coroutine_handle<> leaf) {
    return Strand::running().wait_at(selection_.places(), "select", leaf,
                                     [this] { selection_.queue(); });
  }

  Selection<Os...> selection_;
  std::size_t at_once_ = 0;  // The one that completed without waiting, or their count.
};

// Waits for time to pass.
class [[nodiscard]] SleepWait : public AsyncWait {
 public:
  explicit SleepWait(Deadline deadline) { Strand::running().plan(deadline); }

  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> leaf) {
    Strand& strand = Strand::running();
    if (strand.wait_at({}, "sleep", leaf, [] {})) return true;
    return TaskAccess::explores_suspensions() && strand.explore_after(leaf);
  }
  Waited await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() == Wake::cancelled) return strand.wait_error();
    return {};
  }
};

// Lets all that is ready run first.
class [[nodiscard]] OthersWait : public AsyncWait {
 public:
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> leaf) {
    return Strand::running().let_others_run(leaf);
  }
  Waited await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() == Wake::cancelled) return strand.wait_error();
    return {};
  }
};

}  // namespace corolane::coroutine::detail
