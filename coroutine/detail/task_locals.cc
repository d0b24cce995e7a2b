// SPDX-License-Identifier: MIT
#include "coroutine/detail/task_locals.h"

#include <functional>

namespace corolane::coroutine::detail {

void TaskLocals::inherit(const TaskLocals& parent) noexcept {
  for (const TaskLocals* from = &parent; from != nullptr; from = from->outer_) {
    for (const Node* node = from->first_; node != nullptr; node = node->next) {
      // An earlier one hides it.
      const bool is_hidden = first_ != nullptr && find_here(node->key) != nullptr;
      if (node->type->copy != nullptr && !is_hidden) node->type->copy(*node, *this);
    }
  }
}

TaskLocals::Node* TaskLocals::inherit_late(const void* key) noexcept {
  const Node* const node = outer_->find_in_place(key);
  if (node == nullptr || node->type->copy == nullptr) return nullptr;
  node->type->copy(*node, *this);
  return first_;
}

const TaskLocals::Node* TaskLocals::find_in_place(const void* key) const {
  for (const TaskLocals* from = this; from != nullptr; from = from->outer_) {
    const Node* const node = from->find_here(key);
    const bool is_seen = from == this || (node != nullptr && node->type->copy != nullptr);
    if (node != nullptr) return is_seen ? node : nullptr;
  }
  return nullptr;
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
