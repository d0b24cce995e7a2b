// SPDX-License-Identifier: MIT
// Checks invariants that hold for any input: a violated check is a bug of ours and ends the
// process.
//
//   check(slots_in_use > 0, "a released slot was in use");
//
// Always on. Prints the claim, the place and the running task, then aborts. A function rather than
// a macro: lower-case macros of this name break other libraries' headers.
#pragma once

#include <source_location>
#include <string_view>

#include "coroutine/base/detail/debug_mode.h"

namespace corolane {
namespace detail {

[[noreturn]] void check_failed(std::string_view claim, std::source_location place);

// The arguments of the check() that failed on this thread: for crash reports.
struct FailedCheck {
  std::string_view claim;
  std::source_location place;
};
const FailedCheck* failed_check();

// Names the running task for check(). The task layer sets it; null means that there is none.
using TaskNamer = std::string_view (*)();
void set_task_namer(TaskNamer namer);

}  // namespace detail

// `claim` states the invariant: check(count > 0, "a released slot was in use").
inline void check(bool holds, std::string_view claim,
                  std::source_location place = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    detail::check_failed(claim, place);
  }
}

}  // namespace corolane
