// SPDX-License-Identifier: MIT
#include "framework/routing/detail/cross_follow.h"

#include <utility>

namespace corolane::framework::detail {

Result<void> CrossFollow::run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks,
                              Serve serve) {
  there_ = &there;
  serve_ = std::move(serve);
  there.post([self = shared_from_this(), &tasks] { self->begin(tasks); });
  auto waited = ended_.wait_or_fail(Deadline::never());
  feed_ = nullptr;
  if (waited) return *std::move(result_);
  there.post([self = shared_from_this()] {
    self->is_cancelled_ = true;
    if (self->task_) self->task_.cancel();
  });
  return waited;
}

void CrossFollow::begin(coroutine::TaskGroup& tasks) {
  if (is_cancelled_) return;
  auto spawned = tasks.spawn(follow_method.full_name, [self = shared_from_this()] {
    auto result = self->serve_([&self](const PublishedBatch& batch) { return self->send(batch); });
    self->task_ = {};
    self->end(std::move(result));
  });
  if (!spawned) return end(std::move(spawned.error()).with_context("no stack"));
  task_ = *spawned;
}

Result<void> CrossFollow::send(const PublishedBatch& batch) {
  received_.reset();
  home_.post([self = shared_from_this(), batch] { self->arrive(batch); });
  while (!received_) {
    if (auto waited = room_.wait_or_fail(Deadline::never()); !waited) return waited;
  }
  return *received_;
}

void CrossFollow::arrive(const PublishedBatch& batch) {
  if (feed_ == nullptr) return;
  there_->post([self = shared_from_this(), received = feed_->receive(batch)] {
    self->received_ = received;
    self->room_.notify_all();
  });
}

void CrossFollow::end(Result<void> result) {
  home_.post([self = shared_from_this(), result = std::move(result)] {
    self->result_ = result;
    self->ended_.notify_all();
  });
}

}  // namespace corolane::framework::detail
