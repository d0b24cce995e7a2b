// SPDX-License-Identifier: MIT
// A thread for work that would block a loop, such as reading debug information.
//
//   side.run([&] { groups = all.named(symbols); });
//
// Constructed and used by tasks of one scheduler, which outlives it. The thread has no scheduler of
// its own, whose tasks would have small stacks, and answers by a post.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "coroutine/scheduler.h"
#include "coroutine/wait_queue.h"

namespace corolane::framework::detail {

class SideThread {
 public:
  explicit SideThread(coroutine::Scheduler& home);
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;

  // Runs `work` on the thread, after the jobs queued before it; suspends until it has ended,
  // whether or not the caller is cancelled. `work` must not throw.
  void run(std::function<void()> work);

 private:
  struct Job {
    std::function<void()> work;
    coroutine::WaitQueue ended{"work beside the loop"};
    bool has_ended = false;
  };

  void serve(const std::stop_token& stop);

  coroutine::Scheduler& home_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job*> jobs_;  // Guarded by mutex_.
  std::jthread thread_;    // Its end stops and joins it.
};

}  // namespace corolane::framework::detail
