// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/stack_class.h"

#include <algorithm>

#include "coroutine/base/check.h"
#include "coroutine/stack/detail/valgrind.h"

namespace corolane::coroutine::detail {

std::byte* StackClass::pop_cold() {
  check(warm_count() == 0 && cold_count() > 0, "a cold stack is taken when none is warm");
  --primed_end_;
  cold_end_ = std::min(cold_end_, primed_end_);
  return *--idle_end_;
}

void StackClass::use_room(std::byte** room) {
  check(slot_count_ == 0, "the room for tops is set before slots are added");
  std::byte** const begin = room + before_count;
  // The entries before the tops point here, as if a stack ended here: pop() may prefetch the line
  // below.
  std::fill(room, begin, reinterpret_cast<std::byte*>(begin));
  begin_ = bare_end_ = cold_end_ = primed_end_ = idle_end_ = quick_end_ = begin;
}

void StackClass::add_slots(std::byte* begin, std::size_t count) {
  check(idle_end_ == begin_, "slots are added when no stack is idle");
  // The first slot goes last, so that it is cut first.
  for (std::size_t number = count; number-- > 0;) {
    const std::size_t colour = (slot_count_ + number) % StackSlot::colour_count;
    push(begin + (number + 1) * slot_.size_bytes() - colour * StackSlot::colour_step_bytes);
  }
  bare_end_ = cold_end_ = primed_end_ = idle_end_;
  slot_count_ += count;
  update_quick_end();
}

std::size_t StackClass::cut(const StackMemory& memory, std::size_t count) {
  count = std::min(count, bare_count());
  if (!memory.install_guards({bare_end_ - count, bare_end_}, slot_)) {
    count = std::min<std::size_t>(count, 1);
    if (!memory.install_guards({bare_end_ - count, bare_end_}, slot_)) return 0;
  }
  bare_end_ -= count;
  for (std::byte* top : StackTops(bare_end_, count)) {
    Valgrind::add_stack(slot_.base(top), top);
  }
  return count;
}

void StackClass::prime(const StackMemory& memory, std::size_t count) {
  if (primed_count() > 0) return;
  count = std::min(count, cold_count());
  if (memory.populate({cold_end_ - count, cold_end_}, slot_)) cold_end_ -= count;
}

void StackClass::trim(const StackMemory& memory, std::size_t count) {
  check(count <= warm_count(), "only warm stacks are trimmed");
  primed_end_ += count;
  memory.discard({cold_end_, primed_end_}, slot_);
  cold_end_ = primed_end_;
  update_quick_end();
}

void StackClass::strip(const StackMemory& memory) {
  check(guarded_count() > 0, "a stack that is stripped has a guard");
  memory.discard({bare_end_, 1}, slot_);
  memory.remove_guard(*bare_end_, slot_);
  ++bare_end_;
  cold_end_ = std::max(cold_end_, bare_end_);
  primed_end_ = std::max(primed_end_, bare_end_);
  update_quick_end();
}

void StackClass::note_demand() {
  peaks_[0] = std::max(peaks_[0], static_cast<std::uint32_t>(in_use_count()));
  update_quick_end();
}

void StackClass::begin_bucket(std::size_t closed_count) {
  const std::uint32_t newest = peaks_[0];
  closed_count = std::min(closed_count, bucket_count);
  std::shift_right(peaks_.begin(), peaks_.end(), static_cast<std::ptrdiff_t>(closed_count));
  std::fill_n(peaks_.begin(), closed_count, 0);
  // Peaks from a time without upkeep count as of now.
  peaks_[closed_count > 1 ? 0 : 1] = newest;
  note_demand();
}

std::size_t StackClass::demand() const {
  std::size_t demand = 0;
  for (std::size_t age = 0; age < bucket_count; ++age) {
    const std::size_t halvings = age <= full_age_max ? 0 : age - full_age_max;
    demand = std::max<std::size_t>(demand, peaks_[age] >> halvings);
  }
  return demand;
}

void StackClass::update_quick_end() {
  // The peak is reached with this many idle.
  quick_end_ = std::max(primed_end_, begin_ + (slot_count_ - peaks_[0]));
}

}  // namespace corolane::coroutine::detail
