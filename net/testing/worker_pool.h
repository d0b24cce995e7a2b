// SPDX-License-Identifier: MIT
// Blocking work in virtual time: a function runs on the test's own thread, and its task resumes
// after a time that the test chooses. Functions run one after the other, so that a seed replays
// exactly.
//
//   SimulatedWorkerPool workers({.job_time = 50ms});
//   auto hash = net::run_blocking(workers, [] { return slow_hash("secret"); }, deadline);
#pragma once

#include <cstddef>
#include <memory>

#include "coroutine/task.h"
#include "net/worker_pool.h"

namespace corolane::sim {

class SimulatedWorkerPool : public net::WorkerPool {
 public:
  struct Options {
    Duration job_time = std::chrono::milliseconds(1);  // The virtual time that each function takes.
    std::size_t job_count_max = 256;                   // Like UvWorkerPool::Options.
  };

  SimulatedWorkerPool() : SimulatedWorkerPool(Options{}) {}
  explicit SimulatedWorkerPool(Options options) : options_(options) {}

  void set_job_time(Duration job_time) { options_.job_time = job_time; }

  // A function does not run when its task gives up first, like one in the queue of a real pool.
  Result<void> run(std::shared_ptr<net::detail::BlockingJob> job, Deadline deadline) override {
    if (job_count_ >= options_.job_count_max) {
      return Error(Code::resource_exhausted, "blocking work: too many jobs");
    }
    ++job_count_;
    auto ended = wait(Deadline::after(options_.job_time), deadline);
    --job_count_;
    if (ended) job->run();
    return ended;
  }

 private:
  static Result<void> wait(Deadline end, Deadline deadline) {
    if (auto slept = coroutine::sleep_until(earlier(end, deadline)); !slept) return slept;
    if (end <= deadline) return {};
    return Error(Code::deadline_exceeded, "blocking work: deadline passed");
  }

  Options options_;
  std::size_t job_count_ = 0;
};

}  // namespace corolane::sim
