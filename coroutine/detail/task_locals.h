// What a task keeps of its task-local values (task_local.h): a list of them, the newest first.
//
// The first few lie at the top of its stack (TaskTop), so that a task with a request id and a trace
// context allocates nothing; what does not fit goes to the heap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace corolane::coroutine::detail {

class TaskLocals {
 public:
  struct Node;
  // What is done to a value by those that do not know its type.
  struct Type {
    void (*destroy)(Node& node);
    void (*copy)(const Node& node, TaskLocals& to);  // Null when a child does not inherit it.
  };
  struct Node {
    Node* next;
    const void* key;
    const Type* type;
  };

  TaskLocals() {}  // NOLINT(modernize-use-equals-default): that would clear the room.

  // The value of that key, or null. One step for each value that the task has.
  Node* find(const void* key) const {
    Node* node = first_;
    while (node != nullptr && node->key != key) node = node->next;
    return node;
  }

  // Adds a value: an N is a Node and what comes with it.
  template <typename N, typename... Arguments>
  N& add(const void* key, const Type& type, Arguments&&... arguments) {
    static_assert(alignof(N) <= heap_alignment);
    void* const place = allocate(sizeof(N), alignof(N));
    auto* const node = new (place) N{{first_, key, &type}, std::forward<Arguments>(arguments)...};
    first_ = node;
    return *node;
  }

  // Copies from a parent what a child inherits.
  void inherit(const TaskLocals& parent) noexcept;

  // Also what destructors add meanwhile. They may suspend.
  void destroy_all() noexcept;

 private:
  static constexpr std::size_t heap_alignment = 64;

  void* allocate(std::size_t size_bytes, std::size_t alignment);
  void deallocate(Node* node);

  Node* first_ = nullptr;
  std::size_t room_used_bytes_ = 0;
  // Where the first few lie.
  alignas(std::max_align_t) std::array<std::byte, 112> room_;
};

}  // namespace corolane::coroutine::detail
