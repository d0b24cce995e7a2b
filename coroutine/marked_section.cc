// SPDX-License-Identifier: MIT
#include "coroutine/marked_section.h"

#include <utility>

#include "coroutine/detail/task_access.h"
#include "coroutine/task_meter.h"

namespace corolane::coroutine {

SectionObserver* MarkedSection::set_observer(SectionObserver* observer) {
  return std::exchange(observer_, observer);
}

MarkedSection* MarkedSection::find(const detail::TaskControl& task) {
  MarkedSection* section = youngest_;
  while (section != nullptr && section->task_ != &task) section = section->older_;
  return section;
}

void MarkedSection::enter() {
  const detail::TaskControl* const task = detail::TaskAccess::running_or_null();
  if (task == nullptr) return;
  task_ = task;
  its_observer_ = observer_;
  older_ = std::exchange(youngest_, this);
  // The scheduler inspects the next switch of a task that was metered.
  static_cast<void>(TaskMeter().end());
  resumed();
}

void MarkedSection::leave() {
  MarkedSection** place = &youngest_;
  while (*place != this) place = &(*place)->older_;
  *place = older_;
}

void MarkedSection::suspends() {
  if (!is_observing_) its_observer_->on_step_suspends(*this, ++steps_);
}

void MarkedSection::resumed() {
  if (is_observing_) return;
  is_observing_ = true;
  its_observer_->on_step_ended(*this, steps_);
  is_observing_ = false;
}

}  // namespace corolane::coroutine
