// An exception that escaped a task's function: a bug, since nothing here throws by design.
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
  std::string_view task_name;
  std::source_location spawn_site;
  std::string_view what;  // Of a std::exception; otherwise says that it is none.
};

// Called inside the task that ended, on its stack, where all that the function needed is free
// again. Must not suspend, nor throw.
using OnStrayException = std::function<void(const StrayException&)>;

// One line on stderr.
void print_stray_exception(const StrayException& stray);

}  // namespace corolane::coroutine
