// A variable of which every task has its own value: what thread_local is to threads.
//
//   constinit TaskLocal<std::uint64_t> request_id;                       // At namespace scope.
//   constinit TaskLocal<TraceContext, Inheritance::copy> trace_context;
//
//   request_id.set(17);
//   if (const auto* id = request_id.get()) log.info("moved", {{"request", *id}});
//
// For what belongs to a whole request and would otherwise go through every signature: ids, trace
// contexts, who is calling. A value is destroyed with its task, inside it, after what the function
// captured; its destructor may suspend.
//
// A task begins without any value, unless the variable says Inheritance::copy: then it begins with
// a copy of what its spawner has at that time. No is the default, since most values mean one
// task's work, and a copy costs each spawn.
//
// get() takes a step for each value that the task has set. Two or three small values cost no
// allocation: together 112 bytes, of which each takes 24 beside itself.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_locals.h"

namespace corolane::coroutine {

enum class Inheritance : std::uint8_t { none, copy };

// Outlives every task that sets it. May be used by the tasks of any thread, each for itself.
template <typename T, Inheritance inheritance = Inheritance::none>
class TaskLocal {
 public:
  static_assert(inheritance == Inheritance::none || std::is_copy_constructible_v<T>,
                "what children inherit is copied");

  constexpr TaskLocal() = default;
  TaskLocal(const TaskLocal&) = delete;
  TaskLocal& operator=(const TaskLocal&) = delete;

  // The running task's value: null when it has none, on the loop's own stack, and in a stackless
  // coroutine, whoever awaits it: give that what it needs. Good until the task ends.
  T* get() const {
    const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
    return task == nullptr || !task->has_locals ? nullptr : find(task->locals());
  }

  // Gives the running task that value, and returns where it lies from then on.
  template <typename U = T>
  T& set(U&& value) const {
    Locals& locals = own_locals();
    if (T* const present = find(locals)) return *present = std::forward<U>(value);
    return locals.add<Node>(this, type, std::forward<U>(value)).value;
  }
  // The running task's value; gives it a T{} first when it has none.
  T& get_or_new() const {
    Locals& locals = own_locals();
    if (T* const present = find(locals)) return *present;
    return locals.add<Node>(this, type).value;
  }

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
  T* find(const Locals& locals) const {
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

}  // namespace corolane::coroutine
