// What must hold, whatever the input: a violated check is a bug of ours and ends the process.
//
// Always on. Prints the sentence, the place and the running task, then aborts. A function rather
// than a macro: lower-case macros of this name break other libraries' headers.
#pragma once

#include <source_location>
#include <string_view>

namespace corolane {
namespace detail {

[[noreturn]] void check_failed(std::string_view claim, std::source_location place);

// What check() was told on this thread, once it has failed: for who reports how a process ended.
struct FailedCheck {
  std::string_view claim;
  std::source_location place;
};
const FailedCheck* failed_check();

// Names the running task for check(); the task layer sets it, null means there is none.
using TaskNamer = std::string_view (*)();
void set_task_namer(TaskNamer namer);

}  // namespace detail

// `claim` says what holds when all is well: check(count > 0, "a released slot was in use").
inline void check(bool holds, std::string_view claim,
                  std::source_location place = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    detail::check_failed(claim, place);
  }
}

}  // namespace corolane
