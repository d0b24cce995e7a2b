// The awaitables that until() returns.
//
// An awaitable is only a reference to the operation, which lives as long as the co_await
// expression. All other state is in the strand, so that a coroutine that waits in many places has a
// small frame. For the same reason a wait without a value yields one word, a Waited, instead of the
// two of a Result<void>: compilers keep both in the frame.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "coroutine/base/deadline.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/operation.h"

namespace corolane::coroutine::detail {

// Must be made and awaited in one expression.
struct AsyncWait {
  AsyncWait() = default;
  AsyncWait(const AsyncWait&) = delete;
  AsyncWait& operator=(const AsyncWait&) = delete;
};

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
class [[nodiscard]] OperationWait : AsyncWait {
 public:
  OperationWait(Deadline deadline, O& operation) : operation_(operation) {
    Strand::running().plan(deadline);
  }

  bool await_ready() {
    if (!operation_.try_complete()) return false;
    Strand::running().note_complete();
    return true;
  }
  bool await_suspend(std::coroutine_handle<> leaf) {
    return Strand::running().wait_in(operation_.queue(), operation_.slot(), leaf);
  }
  AsyncResult<typename O::Value> await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() != Wake::notified) [[unlikely]] {
      return strand.wait_error();
    }
    return operation_.finish();
  }

 private:
  O& operation_;
};

// Waits for the first of several operations.
template <Operation... Os>
class [[nodiscard]] SelectWait : AsyncWait {
 public:
  using Value = std::variant<Result<typename Os::Value>...>;

  SelectWait(Deadline deadline, Os&... operations) : operations_(operations...) {
    Strand::running().plan(deadline);
  }

  bool await_ready() {
    visit([&](auto index, auto& operation) {
      if (!operation.try_complete()) return false;
      completed_ = index;
      return true;
    });
    if (!completed_) return false;
    Strand::running().note_complete();
    return true;
  }
  bool await_suspend(std::coroutine_handle<> leaf) {
    return Strand::running().wait_at(places_, "select", leaf, [&] {
      visit([&](auto index, auto& operation) {
        places_[index].slot = operation.slot();
        operation.queue().add(places_[index]);
        return false;
      });
    });
  }
  Result<Value> await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() != Wake::notified) [[unlikely]] {
      return strand.wait_error();
    }
    const std::size_t completed = completed_.value_or(strand.notified_place());
    std::optional<Value> value;
    visit([&](auto index, auto& operation) {
      if (index != completed) return false;
      value.emplace(std::in_place_index<index>, operation.finish());
      return true;
    });
    return std::move(*value);
  }

 private:
  // Calls `f` with the index and each operation in order, until it returns true.
  template <typename F>
  void visit(F&& f) {
    [&]<std::size_t... indices>(std::index_sequence<indices...>) {
      static_cast<void>(
          (f(std::integral_constant<std::size_t, indices>(), std::get<indices>(operations_)) ||
           ...));
    }(std::index_sequence_for<Os...>());
  }

  std::tuple<Os&...> operations_;
  std::optional<std::size_t> completed_;  // Set when one completed without waiting.
  std::array<Place, sizeof...(Os)> places_;
};

// Waits for time to pass.
class [[nodiscard]] SleepWait : AsyncWait {
 public:
  explicit SleepWait(Deadline deadline) { Strand::running().plan(deadline); }

  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> leaf) {
    return Strand::running().wait_at({}, "sleep", leaf, [] {});
  }
  Waited await_resume() {
    const Strand& strand = Strand::running();
    if (strand.wake() == Wake::cancelled) return strand.wait_error();
    return {};
  }
};

// Lets all that is ready run first.
class [[nodiscard]] OthersWait : AsyncWait {
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
