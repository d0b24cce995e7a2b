// SPDX-License-Identifier: MIT
#include "coroutine/virtual_time.h"

#include <utility>

namespace corolane::coroutine {

bool VirtualTime::wait(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const bool only_looks = deadline <= Deadline::at(now_);
  if (outside_count_ > 0 && !only_looks) woken_.wait(lock, [this] { return wake_pending_; });
  if (std::exchange(wake_pending_, false) || only_looks) return true;
  if (deadline.is_never()) return false;
  now_ = deadline.time();
  return true;
}

void VirtualTime::wake() {
  const std::scoped_lock lock(mutex_);
  wake_pending_ = true;
  woken_.notify_one();
}

VirtualTime::Outside::Outside(VirtualTime& time) : time_(time) { ++time_.outside_count_; }

VirtualTime::Outside::~Outside() { --time_.outside_count_; }

}  // namespace corolane::coroutine
