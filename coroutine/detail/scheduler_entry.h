// SPDX-License-Identifier: MIT
// Lets a debugger find every scheduler of a process, or of its core file.
//
// Nothing in the process reads the list: tools/gdb/corolane.py does, by these names.
#pragma once

namespace corolane::coroutine {
class Scheduler;
}

namespace corolane::coroutine::detail {

// A member of each scheduler: in the list for as long as that lives. Thread-safe.
class SchedulerEntry {
 public:
  explicit SchedulerEntry(const Scheduler& scheduler);
  ~SchedulerEntry();
  SchedulerEntry(const SchedulerEntry&) = delete;
  SchedulerEntry& operator=(const SchedulerEntry&) = delete;

 private:
  static SchedulerEntry* newest_;

  [[maybe_unused]] const Scheduler* const scheduler_;
  SchedulerEntry* older_;
  SchedulerEntry* newer_ = nullptr;
};

}  // namespace corolane::coroutine::detail
