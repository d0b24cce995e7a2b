// SPDX-License-Identifier: MIT
// The storage of a task's task-local values (task_local.h): a list, newest first.
//
// The first few lie at the top of its stack (TaskTop), so that a task with a request id and a trace
// context allocates nothing; the rest goes to the heap.
//
// A part of a task (CancelScope) has values of its own, and inherits those of the task around it as
// a spawned task does. Most parts ask for few of them, so each is copied when it is asked for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace corolane::coroutine::detail {

class TaskLocals {
 public:
  struct Node;
  // The operations on a value for code that does not know its type.
  struct Type {
    void (*destroy)(Node& node);                     // Null when nothing has to be done.
    void (*copy)(const Node& node, TaskLocals& to);  // Null when a child does not inherit it.
  };
  struct Node {
    Node* next;
    const void* key;
    const Type* type;
  };

  // `outer` belongs to the task of a part, and outlives it.
  explicit TaskLocals(TaskLocals* outer = nullptr) : outer_(outer) {}

  // The value of that key, or null. Takes one step for each value of the task.
  Node* find(const void* key) {
    Node* const node = find_here(key);
    if (node != nullptr || outer_ == nullptr) return node;
    return inherit_late(key);
  }
  // The same, but a value that a part inherits stays where it is: a signal handler may call it.
  const Node* find_in_place(const void* key) const;

  // Adds a value: an N is a Node with its payload.
  template <typename N, typename... Arguments>
  N& add(const void* key, const Type& type, Arguments&&... arguments) {
    static_assert(alignof(N) <= heap_alignment);
    void* place = take_room(sizeof(N), alignof(N));
    if (place == nullptr) place = allocate_elsewhere(sizeof(N));
    auto* const node = new (place) N{{first_, key, &type}, std::forward<Arguments>(arguments)...};
    // A signal handler may look for a value.
    std::atomic_signal_fence(std::memory_order_release);
    first_ = node;
    return *node;
  }

  // Adds a value that lives elsewhere, and hides another one of its key until it is removed.
  void add_guest(Node& node) {
    node.next = first_;
    // A signal handler may look for a value.
    std::atomic_signal_fence(std::memory_order_release);
    first_ = &node;
  }
  void remove_guest(const Node& node) {
    Node** link = &first_;
    while (*link != &node) link = &(*link)->next;
    *link = node.next;
    std::atomic_signal_fence(std::memory_order_release);
  }

  // Copies the inherited values of a parent.
  void inherit(const TaskLocals& parent) noexcept;

  // Also destroys values that destructors add meanwhile. Destructors may suspend.
  void destroy_all() noexcept {
    if (first_ != nullptr) destroy_those_there();
  }

 private:
  Node* find_here(const void* key) const {
    Node* node = first_;
    while (node != nullptr && node->key != key) node = node->next;
    return node;
  }
  void destroy_those_there() noexcept;
  Node* inherit_late(const void* key) noexcept;

  static constexpr std::size_t heap_alignment = 64;

  // Null when the room does not suffice.
  void* take_room(std::size_t size_bytes, std::size_t alignment) {
    const std::size_t begin = (room_used_bytes_ + alignment - 1) / alignment * alignment;
    if (alignment > alignof(std::max_align_t) || begin + size_bytes > room_.size()) return nullptr;
    room_used_bytes_ = begin + size_bytes;
    return room_.data() + begin;
  }
  static void* allocate_elsewhere(std::size_t size_bytes);
  bool is_in_room(const Node* node) const;

  Node* first_ = nullptr;
  TaskLocals* outer_;
  std::size_t room_used_bytes_ = 0;
  // The storage of the first few.
  alignas(std::max_align_t) std::array<std::byte, 112> room_;
};

}  // namespace corolane::coroutine::detail
