// SPDX-License-Identifier: MIT
// A variable of which every task has its own value, like a thread_local for tasks.
//
//   constinit TaskLocal<std::uint64_t> request_id;                       // At namespace scope.
//   constinit TaskLocal<TraceContext, Inheritance::copy> trace_context;
//
//   request_id.set(17);
//   if (const auto* id = request_id.get()) log.info("moved", {{"request", *id}});
//
// For data that belongs to a whole request and would otherwise go through every signature: ids,
// trace contexts, the caller's identity. A value is destroyed with its task, inside it, after the
// captures of the function; its destructor may suspend.
//
// A task begins without values, unless the variable says Inheritance::copy: then it begins with a
// copy of its spawner's value at that time. Not inheriting is the default, since most values
// concern one task's work, and a copy costs each spawn.
//
// get() takes a step for each value that the task has set. Two or three small values need no
// allocation: they share 112 bytes, of which each takes 24 beside itself.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_locals.h"

namespace corolane::coroutine {

enum class Inheritance : std::uint8_t { none, copy };

// Must outlive every task that sets it. The tasks of any thread may use it; each has its own value.
template <typename T, Inheritance inheritance = Inheritance::none>
class TaskLocal {
 public:
  static_assert(inheritance == Inheritance::none || std::is_copy_constructible_v<T>,
                "what children inherit is copied");

  constexpr TaskLocal() = default;
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  // The running task's value: null when it has none, on the loop's own stack, and in a stackless
  // coroutine, whichever task awaits it: pass it what it needs. Valid until the task ends.
  T* get() const {
    const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
    return task == nullptr || !task->has_locals ? nullptr : find(task->locals());
  }
  // The same, without the copy that a part of the task (CancelScope) makes when it first asks for
  // what it inherits. For signal handlers.
  const T* peek() const {
    const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
    if (task == nullptr || !task->has_locals) return nullptr;
    const auto* const node = task->locals().find_in_place(this);
    return node == nullptr ? nullptr : &static_cast<const Node*>(node)->value;
  }

  // Sets the running task's value, and returns its place from then on.
  template <typename U = T>
  T& set(U&& value) const {
    Locals& locals = own_locals();
    if (T* const present = find(locals)) return *present = std::forward<U>(value);
    return locals.add<Node>(this, type, std::forward<U>(value)).value;
  }
  // The running task's value; sets it to T{} first when there is none.
  T& get_or_new() const {
    Locals& locals = own_locals();
    if (T* const present = find(locals)) return *present;
    return locals.add<Node>(this, type).value;
  }
  // A value on the stack of the running task.
  class Guest;

 private:
  using Locals = detail::TaskLocals;
  struct Node : Locals::Node {
    T value = {};
  };

  static Locals& own_locals() {
    detail::TaskControl* const task = detail::TaskAccess::running_or_null();
    check(task != nullptr,
          "only a task has task-local values; the loop and stackless coroutines have none");
    return task->begin_locals();
  }
  T* find(Locals& locals) const {
    Locals::Node* const node = locals.find(this);
    return node == nullptr ? nullptr : &static_cast<Node*>(node)->value;
  }

  static constexpr auto destroy() -> decltype(Locals::Type::destroy) {
    if constexpr (std::is_trivially_destructible_v<T>) {
      return nullptr;
    } else {
      return [](Locals::Node& node) { static_cast<Node&>(node).~Node(); };
    }
  }
  static constexpr auto copy() -> decltype(Locals::Type::copy) {
    if constexpr (inheritance == Inheritance::copy) {
      return [](const Locals::Node& node, Locals& to) {
        to.add<Node>(node.key, type, static_cast<const Node&>(node).value);
      };
    } else {
      return nullptr;
    }
  }

  static constexpr Locals::Type type = {.destroy = destroy(), .copy = copy()};
};

// Belongs to the running task, or to its running part, and costs less than set(). Hides an earlier
// value of the variable for as long as it lives.
template <typename T, Inheritance inheritance>
class [[nodiscard]] TaskLocal<T, inheritance>::Guest {
 public:
  // `variable` outlives it.
  explicit Guest(const TaskLocal& variable)
      : locals_(own_locals()), node_{{nullptr, &variable, &type}} {
    locals_.add_guest(node_);
  }
  ~Guest() { locals_.remove_guest(node_); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  T& value() { return node_.value; }

 private:
  Locals& locals_;
  Node node_;
};

}  // namespace corolane::coroutine
