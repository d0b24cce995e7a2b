#include "coroutine/detail/task_locals.h"

#include <functional>

namespace corolane::coroutine::detail {

void TaskLocals::inherit(const TaskLocals& parent) noexcept {
  for (const Node* node = parent.first_; node != nullptr; node = node->next) {
    if (node->type->copy != nullptr) node->type->copy(*node, *this);
  }
}

void TaskLocals::destroy_all() noexcept {
  while (first_ != nullptr) {
    // Taken out first: its destructor may look for it.
    Node* const node = std::exchange(first_, first_->next);
    node->type->destroy(*node);
    deallocate(node);
  }
}

void* TaskLocals::allocate(std::size_t size_bytes, std::size_t alignment) {
  const std::size_t begin = (room_used_bytes_ + alignment - 1) / alignment * alignment;
  if (alignment > alignof(std::max_align_t) || begin + size_bytes > room_.size()) {
    return ::operator new(size_bytes, std::align_val_t{heap_alignment});
  }
  room_used_bytes_ = begin + size_bytes;
  return room_.data() + begin;
}

void TaskLocals::deallocate(Node* node) {
  const void* const place = node;
  const std::less<const void*> below;
  const bool is_in_room = !below(place, room_.data()) && below(place, room_.data() + room_.size());
  if (!is_in_room) ::operator delete(node, std::align_val_t{heap_alignment});
}

}  // namespace corolane::coroutine::detail
