// Breaks what the scheduler knows of a task, for tests of those who have to survive that.
#pragma once

#include <cstdint>

namespace corolane::test {

enum class Breach : std::uint8_t {
  none,
  task,   // What it waits for is no text.
  list,   // It leads nowhere in the list of all tasks.
  stack,  // Its stack cannot be walked.
};

// Made in a task, which then suspends and is broken by another one.
class BreakableTask {
 public:
  BreakableTask();

  void break_by(Breach breach) const;

 private:
  void* task_;
};

}  // namespace corolane::test
