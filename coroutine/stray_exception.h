// An exception that escaped the function of a task, or a stackless coroutine: a bug, since nothing
// here throws by design.
//
// Whoever joins the task gets Code::internal, but a handle may be destroyed unread and a group
// keeps the first error only. So the scheduler counts every one of them and tells
// Scheduler::Options::on_stray_exception of it.
#pragma once

#include <functional>
#include <source_location>
#include <string_view>

namespace corolane::coroutine {

// Refers to texts that live as long as the call it is handed to.
struct StrayException {
  // Of a stackless coroutine: those of the task that awaits it, empty when a group has it.
  std::string_view task_name = {};
  std::source_location spawn_site = {};
  bool is_stackless = false;
  std::string_view what = "(no std::exception)";  // Of a std::exception.
};

// Called inside the task that ended, on its stack, where all that the function needed is free
// again; or by the stackless coroutine. Must not suspend, nor throw.
using OnStrayException = std::function<void(const StrayException&)>;

// One line on stderr.
void print_stray_exception(const StrayException& stray);

}  // namespace corolane::coroutine
