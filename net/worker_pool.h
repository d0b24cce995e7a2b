// SPDX-License-Identifier: MIT
// Blocking work beside the loop: a password to hash, a file to read, a library that blocks.
//
//   auto hash = run_blocking(workers, [password] { return slow_hash(password); }, deadline);
//   if (!hash) return hash.error();
//
// The calling task is parked while the function runs on another thread. The function may neither
// touch what belongs to a scheduler nor suspend: it is not a task.
//
// A running function cannot be stopped. When its task is cancelled or its deadline passes, the task
// continues at once and the function runs to its end alone; a function that has not begun yet never
// runs. So it must own everything it uses: capture by value, or through a shared_ptr. The function
// and an abandoned result are destroyed on the scheduler's thread.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"

namespace corolane::net {
namespace detail {

// A function that blocks, on its way through a WorkerPool.
class BlockingJob {
 public:
  BlockingJob() = default;
  virtual ~BlockingJob() = default;
  BlockingJob(const BlockingJob&) = delete;
  BlockingJob& operator=(const BlockingJob&) = delete;

  // Runs on any thread; once.
  virtual void run() = 0;

  // On the scheduler's thread, once the pool is done with it.
  void end() { ended_.set(); }
  coroutine::Event& ended() { return ended_; }

 private:
  coroutine::Event ended_{"blocking work"};
};

}  // namespace detail

// Threads for run_blocking(), and the seam for simulation: the real pool is libuv's (UvWorkerPool
// in uv_worker_pool.h); the simulated one runs everything on the test's own thread, in virtual
// time.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // Runs the job and suspends until it has ended. Fails with resource_exhausted when too many jobs
  // wait already, with deadline_exceeded or cancelled; the job may still run then.
  virtual Result<void> run(std::shared_ptr<detail::BlockingJob> job, Deadline deadline) = 0;
};

namespace detail {

template <typename R>
struct BlockingValue {
  using Type = R;
};
template <typename T>
struct BlockingValue<Result<T>> {
  using Type = T;
};

template <typename F>
class BlockingCall final : public BlockingJob {
 public:
  using Returned = std::invoke_result_t<F&>;
  using Value = typename BlockingValue<Returned>::Type;

  explicit BlockingCall(F function) : function_(std::move(function)) {}

  void run() override {
    try {
      if constexpr (std::is_void_v<Returned>) {
        function_();
        result_.emplace();
      } else {
        result_.emplace(function_());
      }
    } catch (const std::exception& stray) {
      result_.emplace(Error(Code::internal, std::string("blocking work threw: ") + stray.what()));
    } catch (...) {
      result_.emplace(
          Error(Code::internal, "blocking work threw something other than a std::exception"));
    }
  }

  Result<Value> take_result() { return *std::move(result_); }

 private:
  F function_;
  std::optional<Result<Value>> result_;
};

}  // namespace detail

// Runs `function` on a thread of the pool and returns its result: a T, a Result<T> or nothing, as a
// Result<T>. Suspends. Fails with resource_exhausted when the pool is full, with internal when the
// function threw, with deadline_exceeded or cancelled; the top of this file says what then happens
// to the function.
template <typename F>
auto run_blocking(WorkerPool& pool, F function, Deadline deadline)
    -> Result<typename detail::BlockingCall<F>::Value> {
  auto call = std::make_shared<detail::BlockingCall<F>>(std::move(function));
  if (auto ran = pool.run(call, deadline); !ran) return ran.error();
  return call->take_result();
}

}  // namespace corolane::net
