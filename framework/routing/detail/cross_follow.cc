// SPDX-License-Identifier: MIT
#include "framework/routing/detail/cross_follow.h"

#include <utility>

#include "coroutine/call_on.h"

namespace corolane::framework::detail {

Result<void> CrossFollow::run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks,
                              Serve serve) {
  there_ = &there;
  auto followed = coroutine::call_on_or_leave(
      there, follow_method.full_name,
      [self = shared_from_this(), serve = std::move(serve)] {
        return serve([&self](const PublishedBatch& batch) { return self->send(batch); });
      },
      Deadline::never(), {.waited_for = "publications of another shard", .group = &tasks});
  feed_ = nullptr;
  return followed;
}

// Both ways are posts: a batch is received on the loop's stack, also when the shard has no other.
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

}  // namespace corolane::framework::detail
