// SPDX-License-Identifier: MIT
// A section of a task's code that a simulation interrupts at each of its steps.
//
//   const MarkedSection section("bid");
//   if (auto saved = save(); !saved) return saved.error();
//   if (auto held = hold(gold); !held) return held.error();
//
// A change that is not stored before the next call goes wrong only when the process dies between
// the two, and a random crash rarely falls there. So a simulation crashes a node before and after
// each step of a section (framework/testing/section_crashes.h). A step is a call that suspends.
//
// Elsewhere nothing observes the section, and it costs a few instructions.
#pragma once

#include <cstdint>
#include <string_view>

namespace corolane::coroutine {
namespace detail {
class Switcher;
struct TaskControl;
}  // namespace detail

class MarkedSection;

// Follows the tasks of its thread through their sections.
class SectionObserver {
 public:
  virtual ~SectionObserver() = default;

  // The running task has entered the section, or a step has just ended. The call may suspend, which
  // is not a step. `steps` is the number of steps that have ended.
  virtual void on_step_ended(const MarkedSection& section, std::uint32_t steps) = 0;
  // The running task is about to suspend in the step number `step`, counted from 1. The call must
  // not suspend.
  virtual void on_step_suspends(const MarkedSection& section, std::uint32_t step) = 0;
};

// Sections nest: a step belongs to the innermost one. Ends in the task that it began in. On a
// loop's stack and in a stackless coroutine it does nothing.
class [[nodiscard]] MarkedSection {
 public:
  // `name` outlives it.
  explicit MarkedSection(std::string_view name) : name_(name) {
    if (observer_ != nullptr) enter();
  }
  ~MarkedSection() {
    if (task_ != nullptr) leave();
  }
  MarkedSection(const MarkedSection&) = delete;
  MarkedSection& operator=(const MarkedSection&) = delete;

  std::string_view name() const { return name_; }

  // Installs the observer of this thread's sections, or none when it is null, and returns the
  // previous one. Sections that have begun already keep theirs.
  static SectionObserver* set_observer(SectionObserver* observer);

 private:
  friend class detail::Switcher;

  // The innermost section of a task; null when it has none.
  static MarkedSection* of(const detail::TaskControl& task) {
    return youngest_ == nullptr ? nullptr : find(task);
  }
  static MarkedSection* find(const detail::TaskControl& task);

  void enter();
  void leave();
  void suspends();
  void resumed();

  static inline constinit thread_local SectionObserver* observer_ = nullptr;
  // The sections of all tasks of this thread, the youngest first.
  static inline constinit thread_local MarkedSection* youngest_ = nullptr;

  const std::string_view name_;
  const detail::TaskControl* task_ = nullptr;  // Null when it is not observed.
  SectionObserver* its_observer_ = nullptr;
  MarkedSection* older_ = nullptr;
  std::uint32_t steps_ = 0;
  bool is_observing_ = false;  // The observer runs, whose suspensions are not steps.
};

}  // namespace corolane::coroutine
