// SPDX-License-Identifier: MIT
// Corrupts the scheduler's data about a task, for tests of code that has to survive that.
#pragma once

#include <cstdint>

namespace corolane::test {

enum class Breach : std::uint8_t {
  none,
  task,   // The name of its wait is not text.
  list,   // Its link in the list of all tasks is invalid.
  stack,  // Its stack cannot be walked.
};

// Constructed in a task, which then suspends; another task breaks it.
class BreakableTask {
 public:
  BreakableTask();

  void break_by(Breach breach) const;

 private:
  void* task_;
};

}  // namespace corolane::test
