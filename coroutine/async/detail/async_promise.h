// SPDX-License-Identifier: MIT
// The promise of a stackless coroutine: one word in its frame, the destination of its result.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/async_frame_pool.h"
#include "coroutine/detail/async_strand.h"

namespace corolane::coroutine {
template <typename T>
class Async;
class AsyncGroup;
}  // namespace corolane::coroutine

namespace corolane::coroutine::detail {

// The error for the exception being handled; counts it.
Error stray_async_exception_error();

// A child of a group reports its error, if any, and then its end.
void async_child_failed(AsyncGroup& group, Error error);
void async_child_ended(AsyncGroup& group);

// Lives with the awaiting side: takes the result, and holds the coroutine that resumes then; null
// when a task awaits.
template <typename T>
class AsyncReceiver {
 public:
  // Called once the coroutine has ended; every awaited coroutine runs to its end.
  Result<T> take() {
    check(result_.has_value(), "a stackless coroutine ends by co_return, not at its closing brace");
    return std::move(*result_);
  }

  // Receives a T, an Error, or nothing for a successful Async<void>. Called again when a destructor
  // after `co_return` throws.
  template <typename... Values>
  void receive(Values&&... value) {
    result_.emplace(std::forward<Values>(value)...);
  }

  std::coroutine_handle<> parent;

 private:
  std::optional<Result<T>> result_;
};

template <typename T>
class AsyncPromise {
 public:
  using Handle = std::coroutine_handle<AsyncPromise>;

  static void* operator new(std::size_t size_bytes) {
    return AsyncFramePool::allocate_frame(size_bytes);
  }
  static void operator delete(void* frame, std::size_t size_bytes) {
    AsyncFramePool::release_frame(frame, size_bytes);
  }

  // Set the receiver of the result, before the coroutine begins.
  void set_owner(AsyncReceiver<T>& receiver) { owner_ = reinterpret_cast<std::byte*>(&receiver); }
  void set_owner(AsyncGroup& group) { owner_ = reinterpret_cast<std::byte*>(&group) + group_tag; }

  Async<T> get_return_object() {
    const Handle handle = Handle::from_promise(*this);
#if !defined(__clang__)
    // gcc 12 puts the value of such a condition where the frame should begin. Clang has no such
    // fault, and may place a frame inside that of its caller.
    check(handle.address() == AsyncFramePool::newest_frame(),
          "no condition of an if, a switch or a loop is a co_await, unless it declares a variable "
          "(if (auto result = co_await ...; !result)): gcc 12 miscompiles others");
#endif
    return Async<T>(handle);
  }
  std::suspend_always initial_suspend() noexcept { return {}; }
  auto final_suspend() noexcept { return End(is_of_task()); }

  // Takes a T or an Error, or a Result of either.
  template <typename R = Result<T>>
  void return_value(R&& result) {
    if constexpr (!std::is_void_v<T> || std::is_same_v<std::remove_cvref_t<R>, Error>) {
      give(std::forward<R>(result));
    } else if (result) {
      // Passes no Result here: gcc 12 would warn that a success leaves its error uninitialised.
      give();
    } else {
      give(std::forward<R>(result).error());
    }
  }
  void unhandled_exception() { return_value(stray_async_exception_error()); }

 private:
  // The lowest bit tells a group from a receiver; the next one marks that the result was given.
  static constexpr std::size_t group_tag = 1;
  static constexpr std::size_t returned_tag = 2;

  // Ends a frame. The child of a task destroys its own frame; that of another coroutine's child is
  // destroyed by the awaiting side, which has the result; that of a group's child is destroyed
  // before the group is notified.
  class End {
   public:
    explicit End(bool is_of_task) : is_of_task_(is_of_task) {}
    bool await_ready() noexcept { return is_of_task_; }
    // Compiled with the flags of the file, like transfer_to().
    [[gnu::always_inline]] std::coroutine_handle<> await_suspend(Handle ended) noexcept {
      AsyncPromise& promise = ended.promise();
      if (!promise.is_of_group()) return Strand::running().transfer_to(promise.receiver().parent);
      check(promise.has_returned(),
            "a stackless coroutine ends by co_return, not at its closing brace");
      AsyncGroup& group = promise.group();
      ended.destroy();  // Its contents are destroyed while the group still counts it.
      async_child_ended(group);
      return std::noop_coroutine();
    }
    void await_resume() noexcept {}

   private:
    bool is_of_task_;
  };

  bool is_of_group() const {
    return std::is_void_v<T> && (reinterpret_cast<std::uintptr_t>(owner_) & group_tag) != 0;
  }
  bool is_of_task() const { return !is_of_group() && !receiver().parent; }
  AsyncReceiver<T>& receiver() const { return *reinterpret_cast<AsyncReceiver<T>*>(owner_); }
  bool has_returned() const {
    return (reinterpret_cast<std::uintptr_t>(owner_) & returned_tag) != 0;
  }
  AsyncGroup& group() const {
    const std::size_t tags = group_tag + (has_returned() ? returned_tag : 0);
    return *reinterpret_cast<AsyncGroup*>(owner_ - tags);
  }
  template <typename... Values>
  void give(Values&&... value) {
    if (!is_of_group()) return receiver().receive(std::forward<Values>(value)...);
    if (!has_returned()) owner_ += returned_tag;
    if constexpr (std::is_void_v<T> && sizeof...(Values) > 0) {
      async_child_failed(group(), std::forward<Values>(value)...);
    }
  }

  std::byte* owner_ = nullptr;
};

}  // namespace corolane::coroutine::detail
