// SPDX-License-Identifier: MIT
// The real WorkerPool: the threads that libuv keeps for all loops of the process.
//
//   UvWorkerPool workers(loop, {.job_count_max = 64});
//   auto hash = run_blocking(workers, [] { return slow_hash("secret"); }, deadline);
//
// They are four unless UV_THREADPOOL_SIZE says otherwise (libuv reads it once, at the first use),
// and look-ups of names run on them too, on half of them at the most.
#pragma once

#include <cstddef>
#include <memory>

#include "net/uv/event_loop.h"
#include "net/worker_pool.h"

namespace corolane::net {

class UvWorkerPool : public WorkerPool {
 public:
  struct Options {
    // Jobs that are waiting or running at once; one more is refused. At ten milliseconds each, the
    // last of them waits for over half a second: a caller that comes then is better off with an
    // error.
    std::size_t job_count_max = 256;
  };

  // `loop` outlives the pool; its destructor waits for functions that still run.
  explicit UvWorkerPool(EventLoop& loop) : UvWorkerPool(loop, Options{}) {}
  UvWorkerPool(EventLoop& loop, Options options);
  // No task may be waiting for a job; abandoned jobs may still run.
  ~UvWorkerPool() override;
  UvWorkerPool(const UvWorkerPool&) = delete;
  UvWorkerPool& operator=(const UvWorkerPool&) = delete;

  Result<void> run(std::shared_ptr<detail::BlockingJob> job, Deadline deadline) override;

  // Waiting or running, including abandoned jobs.
  std::size_t job_count() const { return *job_count_; }

 private:
  struct Request;

  EventLoop& loop_;
  const Options options_;
  // Shared, because abandoned jobs may end after the pool.
  std::shared_ptr<std::size_t> job_count_ = std::make_shared<std::size_t>(0);
};

}  // namespace corolane::net
