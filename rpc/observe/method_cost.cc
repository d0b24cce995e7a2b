// SPDX-License-Identifier: MIT
#include "rpc/observe/method_cost.h"

#include <algorithm>
#include <bit>

#include "coroutine/stack/stack_pool.h"

namespace corolane::rpc {

void MethodCost::add(const MethodCost& more) {
  timed_count += more.timed_count;
  run_time += more.run_time;
  cpu += more.cpu;
  suspension_count += more.suspension_count;
  allocation_count += more.allocation_count;
  allocated_bytes += more.allocated_bytes;
  stack_count += more.stack_count;
  stack_used_bytes_max = std::max(stack_used_bytes_max, more.stack_used_bytes_max);
  stack_size_bytes = std::max(stack_size_bytes, more.stack_size_bytes);
}

std::size_t MethodCost::suggested_stack_size_bytes() const {
  if (stack_count == 0) return 0;
  return std::clamp(std::bit_ceil(stack_used_bytes_max + stack_used_bytes_max / 2),
                    coroutine::StackPool::stack_size_bytes_min,
                    coroutine::StackPool::stack_size_bytes_max);
}

MethodMeter::Sample::Sample(MethodMeter& meter) : meter_(meter), begun_at_(now()) {
  const std::uint32_t number = meter.picked_count_++;
  meter.left_ = number < first_count ? 1 : interval;
  if (number % 2 == 0) {
    stack_.emplace();
  } else {
    time_.emplace();
  }
}

MethodMeter::Sample::~Sample() {
  MethodCost& cost = meter_.cost_;
  if (stack_) {
    if (const auto use = stack_->end()) {
      ++cost.stack_count;
      cost.stack_used_bytes_max = std::max(cost.stack_used_bytes_max, use->used_bytes);
      cost.stack_size_bytes = std::max(cost.stack_size_bytes, use->size_bytes);
    }
  } else if (const auto used = time_->end()) {
    ++cost.timed_count;
    cost.run_time += now() - begun_at_;
    cost.cpu += used->cpu;
    cost.suspension_count += used->suspension_count;
    cost.allocation_count += used->allocations.count;
    cost.allocated_bytes += used->allocations.bytes;
  }
}

}  // namespace corolane::rpc
