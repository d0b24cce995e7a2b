// SPDX-License-Identifier: MIT
// Stackless coroutines: for millions of small entities, each of which waits most of the time.
//
//   Async<Score> play(Game& game, Deadline deadline) {
//     auto move = co_await until(game.moves.receiving(), deadline);
//     if (!move) co_return move.error();
//     if (auto slept = co_await until(Deadline::after(1s)); !slept) co_return slept.error();
//     co_return co_await judge(game, *move);  // Another Async: a Result<Score>.
//   }
//
//   Result<Score> score = await(play(game, deadline));  // In a task.
//   group.spawn(watch(game));                           // By itself: an Async<void>.
//
// A coroutine needs no stack: a frame of some 90 bytes plus what it holds across its waits, from a
// free list of its thread. In return it suspends only by co_await, in its own body. Calls that need
// a stack (join(), sleep_for(), Mutex::lock()) are for tasks; check() enforces this. Most waits of
// a task are an Operation, and until() awaits one, in the expression that calls it: events,
// channels, semaphores, latches, futures, the end of a Task, and Mutex. SharedMutex and the ends of
// groups are for tasks alone. in_task.h lends the stack of a task for these, and for calls and
// streams.
//
// It runs on the stack of the awaiting task up to its first wait, and on the loop's stack from then
// on. In a group it always runs on the loop's stack.
//
// The condition of an if, a switch or a loop must not be a co_await (gcc 12 miscompiles it, check()
// finds it); it may declare a variable, as above.
//
// Deadlines and cancellation are those of tasks: a wait that cannot be completed at once fails with
// deadline_exceeded or cancelled, every time. A coroutine that has begun is never destroyed from
// outside. All of it belongs to one scheduler's thread.
#pragma once

#include <coroutine>
#include <utility>

#include "coroutine/async/detail/async_promise.h"
#include "coroutine/async/detail/async_wait.h"
#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/operation.h"

namespace corolane::coroutine {

// The return type of a stackless coroutine: a call that begins when it is awaited, once. It ends
// with `co_return` of a T, an Error or a Result<T>; a successful Async<void> ends with `co_return
// {}`. An escaped exception becomes Code::internal. Its locals and parameters are destroyed inside
// the coroutine, so their destructors must not call what needs a stack.
template <typename T>
class [[nodiscard]] Async {
 public:
  using promise_type = detail::AsyncPromise<T>;

  Async(Async&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Async& operator=(Async&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Async() {
    if (handle_) handle_.destroy();
  }

  // Awaited in another coroutine: runs this one to its end and yields its Result<T>.
  auto operator co_await() && {
    check(handle_ != nullptr,
          "a stackless coroutine is awaited once, and not after it was moved from");
    return Awaiter(std::exchange(handle_, nullptr));
  }

 private:
  friend promise_type;
  friend class AsyncGroup;
  template <typename U>
  friend Result<U> await(Async<U> child);

  class Awaiter {
   public:
    // Takes the frame of the child, which it destroys after the result was taken.
    explicit Awaiter(promise_type::Handle child) : child_(child) {}
    ~Awaiter() { child_.destroy(); }
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    bool await_ready() { return false; }
    // Compiled with the flags of the file, like transfer_to(): of two copies that are not inlined,
    // the linker would keep one.
    [[gnu::always_inline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
      receiver_.parent = parent;
      child_.promise().set_owner(receiver_);
      return detail::Strand::running().transfer_to(child_);
    }
    Result<T> await_resume() { return receiver_.take(); }

   private:
    promise_type::Handle child_;
    detail::AsyncReceiver<T> receiver_;
  };

  explicit Async(promise_type::Handle handle) : handle_(handle) {}

  promise_type::Handle handle_;
};

// Awaited: yields the Result of `operation`, or the error of the wait, as perform() does for a
// task. An operation without a value yields one word that converts to Result<void>.
template <Operation O>
auto until(O&& operation, Deadline deadline) {
  return detail::OperationWait<O>(deadline, operation);
}

// Awaited: completes exactly one operation and yields a variant with its result. It is the first,
// in the order of the arguments, that needs no wait, else the first that is notified. The last
// argument is the deadline.
template <typename... Arguments>
  requires(sizeof...(Arguments) > 2 && detail::OperationsAndDeadline<Arguments...>)
auto until(Arguments&&... operations_and_deadline) {
  return detail::with_last_first(
      []<Operation... Os>(Deadline deadline, Os&... operations) {
        return detail::SelectWait<Os...>(deadline, operations...);
      },
      operations_and_deadline...);
}

// Awaited: sleeps until the deadline. Fails with cancelled only.
inline auto until(Deadline deadline) { return detail::SleepWait(deadline); }

// Awaited: lets all that is ready run first. Fails with cancelled only.
inline auto let_others_run() { return detail::OthersWait(); }

// Runs `child` from a task, which suspends whenever the child does, and returns the child's result
// once it has ended, never before. Cancelling the task cancels the child.
template <typename T>
[[gnu::always_inline]] inline Result<T> await(Async<T> child) {
  check(child.handle_ != nullptr,
        "a stackless coroutine is awaited once, and not after it was moved from");
  detail::TaskStrand strand(detail::TaskAccess::running());
  detail::AsyncReceiver<T> receiver;
  child.handle_.promise().set_owner(receiver);
  strand.run_to_end(std::exchange(child.handle_, nullptr));
  return receiver.take();
}

}  // namespace corolane::coroutine
