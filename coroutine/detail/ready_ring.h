// The queue of ready tasks: first in, first out, in a dense ring of pointers.
//
// Dense, so that the next tasks are known without touching them: their control blocks and saved
// registers are fetched into the cache while others run. A linked list can fetch only the next
// one, too late to help.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "coroutine/detail/task_control.h"

namespace corolane::coroutine::detail {

class ReadyRing {
 public:
  ReadyRing() : slots_(std::make_unique<TaskControl*[]>(capacity_)) {}

  bool empty() const { return head_ == tail_; }
  std::size_t size() const { return tail_ - head_; }

  void push(TaskControl& task) {
    if (size() == capacity_) [[unlikely]] {
      grow();
    }
    slots_[tail_++ & (capacity_ - 1)] = &task;
  }

  TaskControl& pop() {
    TaskControl& task = *slots_[head_++ & (capacity_ - 1)];
    if (size() > control_block_lead) {
      const auto* block = reinterpret_cast<const std::byte*>(at(control_block_lead));
      __builtin_prefetch(block);
      __builtin_prefetch(block + 64);
      __builtin_prefetch(at(saved_frame_lead)->context.saved_frame());
    }
    return task;
  }

 private:
  static constexpr std::size_t control_block_lead = 7;
  static constexpr std::size_t saved_frame_lead = 3;

  const TaskControl* at(std::size_t lead) const { return slots_[(head_ + lead) & (capacity_ - 1)]; }

  void grow() {
    auto larger = std::make_unique<TaskControl*[]>(capacity_ * 2);
    for (std::size_t index = head_; index != tail_; ++index) {
      larger[index & (capacity_ * 2 - 1)] = slots_[index & (capacity_ - 1)];
    }
    slots_ = std::move(larger);
    capacity_ *= 2;
  }

  std::size_t capacity_ = 1024;  // A power of two; grows to the largest number of ready tasks.
  std::size_t head_ = 0;
  std::size_t tail_ = 0;
  std::unique_ptr<TaskControl*[]> slots_;
};

}  // namespace corolane::coroutine::detail
