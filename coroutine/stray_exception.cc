#include "coroutine/stray_exception.h"

#include <cstdio>
#include <string>

#include "coroutine/base/text.h"
#include "coroutine/detail/task_frame.h"
#include "coroutine/no_suspend.h"

namespace corolane::coroutine {

void print_stray_exception(const StrayException& stray) {
  std::string line = "stray exception: task ";
  line.append(quote(stray.task_name)).append(", spawned at ").append(stray.spawn_site.file_name());
  line.append(":").append(std::to_string(stray.spawn_site.line())).append(", ended with ");
  line.append(quote(stray.what)).append("\n");
  std::fputs(line.c_str(), stderr);
}

Error detail::stray_exception_error(TaskControl& task, const std::exception* exception) {
  const NoSuspend indivisible;
  TaskAccess::tell_of_stray_exception(
      task, {.task_name = task.name(),
             .spawn_site = task.top().site,
             .what = exception != nullptr ? exception->what() : "(no std::exception)"});
  std::string message = "task \"" + std::string(task.name()) + "\" ended with a stray exception";
  if (exception != nullptr) message.append(": ").append(exception->what());
  return Error(Code::internal, std::move(message));
}

}  // namespace corolane::coroutine
