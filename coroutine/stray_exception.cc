// SPDX-License-Identifier: MIT
#include "coroutine/stray_exception.h"

#include <cstdio>
#include <string>

#include "coroutine/base/text.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/no_suspend.h"

namespace corolane::coroutine {

void print_stray_exception(const StrayException& stray) {
  std::string line = "stray exception: ";
  if (stray.is_stackless) line.append("a stackless coroutine of ");
  if (stray.task_name.empty()) {
    line.append("a group");
  } else {
    line.append("task ").append(quote(stray.task_name)).append(", spawned at ");
    line.append(stray.spawn_site.file_name()).append(":");
    line.append(std::to_string(stray.spawn_site.line())).append(",");
  }
  line.append(" ended with ").append(quote(stray.what)).append("\n");
  std::fputs(line.c_str(), stderr);
}

Error detail::stray_exception_error(TaskControl& task, const std::exception* exception) {
  const NoSuspend indivisible;
  StrayException stray = {.task_name = task.name(), .spawn_site = task.top().site};
  if (exception != nullptr) stray.what = exception->what();
  TaskAccess::tell_of_stray_exception(task.scheduler, stray);
  std::string message = "task \"" + std::string(task.name()) + "\" ended with a stray exception";
  if (exception != nullptr) message.append(": ").append(exception->what());
  return Error(Code::internal, std::move(message));
}

}  // namespace corolane::coroutine
