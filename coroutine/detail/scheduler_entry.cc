// SPDX-License-Identifier: MIT
// The list, and the lock of its writers.
#include "coroutine/detail/scheduler_entry.h"

#include <mutex>

namespace corolane::coroutine::detail {
namespace {

constinit std::mutex list_mutex;

}  // namespace

constinit SchedulerEntry* SchedulerEntry::newest_ = nullptr;

SchedulerEntry::SchedulerEntry(const Scheduler& scheduler) : scheduler_(&scheduler) {
  const std::scoped_lock lock(list_mutex);
  older_ = newest_;
  if (older_ != nullptr) older_->newer_ = this;
  newest_ = this;
}

SchedulerEntry::~SchedulerEntry() {
  const std::scoped_lock lock(list_mutex);
  (newer_ != nullptr ? newer_->older_ : newest_) = older_;
  if (older_ != nullptr) older_->newer_ = newer_;
}

}  // namespace corolane::coroutine::detail
