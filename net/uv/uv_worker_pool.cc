// SPDX-License-Identifier: MIT
#include "net/uv/uv_worker_pool.h"

#include <uv.h>

#include <string>
#include <utility>

#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net {

// The part that libuv holds: deletes itself when the job has ended or was cancelled.
struct UvWorkerPool::Request {
  uv_work_t work{};
  std::shared_ptr<detail::BlockingJob> job;
  std::shared_ptr<std::size_t> job_count;
};

UvWorkerPool::UvWorkerPool(EventLoop& loop, Options options) : loop_(loop), options_(options) {}

UvWorkerPool::~UvWorkerPool() = default;

Result<void> UvWorkerPool::run(std::shared_ptr<detail::BlockingJob> job, Deadline deadline) {
  if (*job_count_ >= options_.job_count_max) {
    return Error(Code::resource_exhausted, "blocking work: " + std::to_string(*job_count_) +
                                               " jobs are waiting or running already");
  }
  auto* const request = new Request{.work = {}, .job = job, .job_count = job_count_};
  request->work.data = request;
  const int queued = uv_queue_work(
      &loop_.impl().uv, &request->work,
      [](uv_work_t* work) { static_cast<Request*>(work->data)->job->run(); },
      [](uv_work_t* work, int /*status*/) {
        const std::unique_ptr<Request> done(static_cast<Request*>(work->data));
        --*done->job_count;
        done->job->end();
      });
  if (queued < 0) {
    delete request;
    return detail::uv_error(queued, "blocking work");
  }
  ++*job_count_;
  ++loop_.impl().open_count;
  auto waited = job->ended().wait(deadline);
  --loop_.impl().open_count;
  if (waited) return {};
  // Keeps a queued job from being run; one that runs already ends alone.
  if (!job->ended().is_set()) uv_cancel(reinterpret_cast<uv_req_t*>(&request->work));
  return std::move(waited.error()).with_context("blocking work");
}

}  // namespace corolane::net
