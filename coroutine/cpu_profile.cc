// SPDX-License-Identifier: MIT
#include "coroutine/cpu_profile.h"

#include <algorithm>

#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/unwind.h"

namespace corolane::coroutine {

void CpuProfile::add(Duration cpu, const void* context, const detail::TaskControl* running) {
  if (count_ == count_max_) {
    ++lost_count_;
    return;
  }
  Sample& sample = room_[count_];
  sample.cpu_ = cpu;
  sample.name_size_ = 0;
  if (running != nullptr) {
    const std::string_view name = running->name();
    sample.name_size_ = static_cast<std::uint8_t>(std::min(name.size(), sample.name_.size()));
    std::copy_n(name.begin(), sample.name_size_, sample.name_.begin());
  }
  sample.depth_ = static_cast<std::uint8_t>(detail::unwind_interrupted(context, sample.addresses_));
  ++count_;
}

}  // namespace corolane::coroutine
