// SPDX-License-Identifier: MIT
// One value that will exist later, such as the answer to a request: one side promises it, the other
// waits for it.
//
//   Promise<Answer> promise;
//   Future<Answer> future = promise.get_future();
//   on_reply([&](Answer answer) { promise.set_value(answer); });  // Anywhere on the thread.
//   auto answer = future.get(deadline);
//
// Nothing is allocated: the value lies in the future, and the two sides point to each other. Both
// may be moved, a future only while no task waits for it.
#pragma once

#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/known_queue.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

template <typename T>
class Promise;

template <typename T>
class [[nodiscard]] Future {
 public:
  Future() = default;
  // The holder of the promise need not notice.
  ~Future() { connect(nullptr); }
  Future(Future&& other) noexcept { take(other); }
  Future& operator=(Future&& other) noexcept {
    connect(nullptr);
    take(other);
    return *this;
  }

  // True when get() need not wait.
  bool is_ready() const { return promise_ == nullptr; }
  // Suspends until get() would not. Fails with deadline_exceeded or cancelled.
  Result<void> wait(Deadline deadline) {
    return is_ready() ? Result<void>() : waiters_.wait_or_fail(deadline);
  }

  // Suspends until there is a value or an error, and takes it out. Fails with that error; with
  // aborted when the promise was destroyed without either; with failed_precondition when there is
  // no promise or its result was already taken. After deadline_exceeded or cancelled the result can
  // still be taken later.
  Result<T> get(Deadline deadline) { return perform(getting(), deadline); }

  // The same as an operation, for select() and stackless coroutines.
  class Getting {
   public:
    using Value = T;

    explicit Getting(Future& future) : future_(future) {}
    bool try_complete() const { return future_.is_ready(); }
    detail::KnownQueue& queue() { return future_.waiters_; }
    void* slot() { return nullptr; }
    Result<T> finish() {
      // Another task may just have taken it.
      if (!future_.result_) return Error(Code::failed_precondition, "no future, or already taken");
      Result<T> result = std::move(*future_.result_);
      future_.result_.reset();
      return result;
    }

   private:
    Future& future_;
  };
  Getting getting() { return Getting(*this); }

 private:
  friend class Promise<T>;
  Future(Promise<T>& promise, const char* waited_for, const std::source_location& site)
      : waiters_(waited_for, site) {
    connect(&promise);
  }

  void connect(Promise<T>* promise) {
    if (promise_ != nullptr) promise_->future_ = nullptr;
    promise_ = promise;
    if (promise_ != nullptr) promise_->future_ = this;
  }
  void take(Future& other) {
    check(waiters_.empty() && other.waiters_.empty(), "no task waits for a future that is moved");
    result_ = std::exchange(other.result_, std::nullopt);
    Promise<T>* const promise = other.promise_;
    other.connect(nullptr);
    connect(promise);
    waiters_.take_names(other.waiters_);
  }
  void settle(Result<T> result) {
    promise_ = nullptr;
    result_ = std::move(result);
    waiters_.notify_all();
  }

  Promise<T>* promise_ = nullptr;  // Null once there is a result.
  std::optional<Result<T>> result_;
  detail::KnownQueue waiters_{"future", std::source_location::current()};
};

template <typename T>
class [[nodiscard]] Promise {
 public:
  Promise() = default;
  ~Promise() { break_promise(); }
  Promise(Promise&& other) noexcept { take(other); }
  Promise& operator=(Promise&& other) noexcept {
    break_promise();
    take(other);
    return *this;
  }

  // Call it once, before there is a value or an error. `waited_for` is what introspection shows of
  // the waiting tasks; it outlives the future.
  Future<T> get_future(const char* waited_for = "future",
                       const std::source_location& site = std::source_location::current()) {
    check(std::exchange(state_, State::open) == State::fresh, "a promise has one future");
    return Future<T>(*this, waited_for, site);
  }

  // Call one of them, once, after get_future(). They wake all waiters and never suspend; the loop
  // may call them too.
  template <typename... Args>
  void set_value(Args&&... args) {
    set(Result<T>(std::in_place, std::forward<Args>(args)...));
  }
  void set_error(Error error) { set(std::move(error)); }
  void set(Result<T> result) {
    check(state_ != State::fresh, "a promise is kept after its future was taken");
    check(std::exchange(state_, State::kept) == State::open, "a promise is kept once");
    if (auto* const future = std::exchange(future_, nullptr)) future->settle(std::move(result));
  }

 private:
  friend class Future<T>;
  enum class State : std::uint8_t { fresh, open, kept };

  void take(Promise& other) {
    state_ = std::exchange(other.state_, State::kept);
    if (other.future_ != nullptr) other.future_->connect(this);
  }
  void break_promise() {
    if (state_ == State::open) set_error(Error(Code::aborted, "the promise was broken"));
  }

  State state_ = State::fresh;
  Future<T>* future_ = nullptr;  // Null also when the future is gone.
};

}  // namespace corolane::coroutine
