// SPDX-License-Identifier: MIT
#include "coroutine/detail/task_locals.h"

#include <functional>

namespace corolane::coroutine::detail {

void TaskLocals::inherit(const TaskLocals& parent) noexcept {
  for (const Node* node = parent.first_; node != nullptr; node = node->next) {
    if (node->type->copy != nullptr) node->type->copy(*node, *this);
  }
}

void TaskLocals::destroy_those_there() noexcept {
  while (first_ != nullptr) {
    // Unlinked first: the destructor may look it up.
    Node* const node = std::exchange(first_, first_->next);
    if (node->type->destroy != nullptr) node->type->destroy(*node);
    if (!is_in_room(node)) ::operator delete(node, std::align_val_t{heap_alignment});
  }
}

void* TaskLocals::allocate_elsewhere(std::size_t size_bytes) {
  return ::operator new(size_bytes, std::align_val_t{heap_alignment});
}

bool TaskLocals::is_in_room(const Node* node) const {
  const void* const place = node;
  const std::less<const void*> below;
  return !below(place, room_.data()) && below(place, room_.data() + room_.size());
}

}  // namespace corolane::coroutine::detail
