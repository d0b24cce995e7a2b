// SPDX-License-Identifier: MIT
// Owns any number of tasks that come and go: the calls of a server, the bots of a game.
//
//   TaskGroup group;
//   for (auto& bot : bots) {
//     if (auto spawned = group.spawn("bot", [&] { return bot.play(); }); !spawned) {
//       return spawned.error();
//     }
//   }
//   return group.join(deadline);
//
// A child returns Result<void> or nothing; its stack goes back to the pool as soon as it ends.
// Children that give values are in sync/for_each.h. All of it belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <source_location>
#include <string_view>
#include <utility>

#include "coroutine/detail/group_end.h"
#include "coroutine/task.h"

namespace corolane::coroutine {

class TaskGroup {
 public:
  struct Options {
    // The first error of a child cancels the others, and each new child until a join has returned
    // that error.
    bool cancel_on_error = false;
  };

  TaskGroup() = default;
  explicit TaskGroup(const Options& options)
      : end_("end of a task group", options.cancel_on_error) {}
  ~TaskGroup() { cancel_and_join(); }
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Queues `body` as a child; never suspends. Fails with resource_exhausted when no stack is
  // available, and with invalid_argument when `options` asks for too large a one.
  template <typename F>
  Result<TaskRef> spawn(std::string_view name, F&& body, TaskOptions options = {},
                        const std::source_location& site = std::source_location::current()) {
    using Returned = std::invoke_result_t<std::decay_t<F>&>;
    static_assert(std::is_void_v<Returned> || std::is_same_v<Returned, Result<void>>,
                  "the child of a group has no value to give: it returns nothing or a "
                  "Result<void>; a task with a value has a handle, from spawn()");
    auto spawned = detail::spawn_frame<void>(name, std::forward<F>(body), options, site, this);
    if (!spawned) return std::move(spawned.error());
    add(**spawned);
    return TaskRef(**spawned);
  }

  // Suspends until no child is left; children may spawn more meanwhile. Then returns the first
  // error that a child returned since the last join, if any. Fails with cancelled or
  // deadline_exceeded when the caller is cancelled or the deadline passes first.
  Result<void> join(Deadline deadline) { return end_.join(deadline); }

  // The same, and no child is left running in any case: when the caller is cancelled or late, this
  // cancels the children, waits for them, and then fails with cancelled or deadline_exceeded. The
  // results of the cancelled children are dropped; the error of a child that failed earlier is not.
  Result<void> join_or_cancel(Deadline deadline);

  // Whether the running task is a child: it must not join the group, since it would wait for
  // itself.
  bool has_running_task() const;

  // Asks every child to end; does not wait.
  void cancel();

  // Cancels the children, and those that they still spawn, and suspends until all have ended,
  // whether or not the calling task is cancelled.
  void cancel_and_join();

  std::size_t size() const { return end_.child_count(); }

 private:
  friend void detail::group_child_ended(detail::TaskControl& child);
  friend void detail::group_child_failed(detail::TaskControl& child, Error&& error);

  void add(detail::TaskControl& child);

  detail::List<detail::Membership, detail::MembershipTag> children_;
  detail::GroupEnd end_{"end of a task group"};
};

inline void TaskGroup::add(detail::TaskControl& child) {
  children_.push_back(child.membership);
  end_.child_began();
  if (end_.cancels_new()) child.cancel();
}

}  // namespace corolane::coroutine
