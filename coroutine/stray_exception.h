// SPDX-License-Identifier: MIT
// An exception that escaped the function of a task, or a stackless coroutine: a bug, since nothing
// here throws by design.
//
//   Scheduler scheduler(loop, {.on_stray_exception = [](const StrayException& stray) {
//                        print_stray_exception(stray);
//                        ++stray_count;
//                      }});
//
// A join of the task returns Code::internal, but a handle may be destroyed unread and a group keeps
// the first error only. So the scheduler counts every stray exception and reports it to
// Scheduler::Options::on_stray_exception.
#pragma once

#include <functional>
#include <source_location>
#include <string_view>

namespace corolane::coroutine {

// Refers to texts that live as long as the call that receives it.
struct StrayException {
  // For a stackless coroutine: those of the task that awaits it, empty when a group owns it.
  std::string_view task_name = {};
  std::source_location spawn_site = {};
  bool is_stackless = false;
  std::string_view what = "(not a std::exception)";  // The what() of a std::exception.
};

// Called inside the task that ended, on its stack, after the function's locals are destroyed; or by
// the stackless coroutine. Must neither suspend nor throw.
using OnStrayException = std::function<void(const StrayException&)>;

// One line on stderr.
void print_stray_exception(const StrayException& stray);

}  // namespace corolane::coroutine
