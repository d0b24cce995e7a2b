// SPDX-License-Identifier: MIT
#include "framework/node/detail/side_thread.h"

#include <pthread.h>

#include <utility>

namespace corolane::framework::detail {

SideThread::SideThread(coroutine::Scheduler& home)
    : home_(home), thread_([this](const std::stop_token& stop) { serve(stop); }) {}

void SideThread::run(std::function<void()> work) {
  Job job{.work = std::move(work)};
  {
    const std::scoped_lock lock(mutex_);
    jobs_.push_back(&job);
  }
  changed_.notify_one();
  while (!job.has_ended) {
    job.ended.wait(Deadline::never(), coroutine::Cancellation::ignore);
  }
}

void SideThread::serve(const std::stop_token& stop) {
  ::pthread_setname_np(::pthread_self(), "beside the loop");
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
    Job& job = *jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    job.work();
    home_.post([&job] {
      job.has_ended = true;
      job.ended.notify_all();
    });
    lock.lock();
  }
}

}  // namespace corolane::framework::detail
