// SPDX-License-Identifier: MIT
// The waiting and resuming of stackless coroutines; everything else is inlined into them.
#include "coroutine/detail/async_strand.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/detail/async_frame_pool.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/stray_exception.h"

namespace corolane::coroutine::detail {

// Only tests take detours, so the strands of others have no room for one.
struct Strand::Detour {
  void* awaitable;
  TryAgain try_again;  // Null when the awaitable is complete.
};

void Strand::go_on(const ReadyRing::Entry& entry) {
  auto& strand = *static_cast<Strand*>(entry.owner);
  const bool is_detour = entry.is_fresh();
  const auto leaf = std::coroutine_handle<>::from_address(static_cast<std::byte*>(entry.frame) -
                                                          (is_detour ? detour_tag : leaf_tag));
  strand.leaf_ = nullptr;
  if (is_detour && strand.end_detour(leaf)) return;
  strand.run(leaf);
  if (!strand.has_ended()) return;
  if (TaskControl* const task = strand.task()) {
    task->waiting_for = nullptr;
    TaskAccess::make_ready(*task);
  } else {
    delete &static_cast<GroupStrand&>(strand);
  }
}

bool Strand::is_cancelled() const {
  const TaskControl* const its_task = task();
  return its_task != nullptr ? its_task->is_cancelled() : is_cancelled_;
}

bool Strand::wait_in(WaitQueue& queue, void* slot, std::coroutine_handle<> leaf) {
  return wait_at({&place_, 1}, queue.waited_for(), leaf, [&] {
    place_.slot = slot;
    queue.add(place_);
  });
}

bool Strand::wait_to_end_in(WaitQueue& queue, std::coroutine_handle<> leaf) {
  waited_for_ = queue.waited_for();
  plan(Deadline::never());
  place_.slot = nullptr;
  stand_at({&place_, 1});
  queue.add(place_);
  begin_wait(leaf);
  // Another part of the task may be cancelled.
  if (TaskControl* const its_task = task()) its_task->wait = nullptr;
  return true;
}

std::uintptr_t Strand::code() const {
  // The first word of a frame is the function that resumes it.
  return leaf_ == nullptr ? 0 : *static_cast<const std::uintptr_t*>(leaf_.address());
}

bool Strand::may_wait(const char* waited_for) {
  waited_for_ = waited_for;
  if (is_cancelled()) {
    wake_as(Wake::cancelled);
    return false;
  }
  if (planned() <= Deadline::at(Switcher::current().turn_time())) {
    wake_as(Wake::deadline);
    return false;
  }
  return true;
}

void Strand::begin_wait(std::coroutine_handle<> leaf) {
  leaf_ = leaf;
  is_waiting_ = true;
  wait_tick_ = tick_of(scheduler().turn_time());
  if (TaskControl* const its_task = task()) {
    its_task->wait = this;
    its_task->waiting_for = waited_for_;
  }
  scheduler().timers().arm(*this, planned());
}

void Strand::woken(Timer& timer) {
  auto& strand = static_cast<Strand&>(timer);
  strand.leave_places();
  strand.is_waiting_ = false;
  strand.make_ready();
}

bool Strand::let_others_run(std::coroutine_handle<> leaf) {
  waited_for_ = "yield";
  if (is_cancelled()) {
    wake_as(Wake::cancelled);
    return false;
  }
  note_complete();
  leaf_ = leaf;
  make_ready();
  return true;
}

bool Strand::chooses_detour() const {
  if (is_cancelled() || planned() == Deadline::passed()) return false;
  const TaskControl* const its_task = task();
  if (its_task != nullptr && (its_task->flags & TaskHead::no_suspend_flag) != 0) return false;
  return TaskAccess::chooses_suspension();
}

bool Strand::explore_after(std::coroutine_handle<> leaf) {
  if (!chooses_detour()) return false;
  begin_detour(leaf, nullptr, nullptr);
  return true;
}

void Strand::begin_detour(std::coroutine_handle<> leaf, void* awaitable, TryAgain try_again) {
  place_.slot = new Detour{.awaitable = awaitable, .try_again = try_again};
  leaf_ = leaf;
  make_ready_at(detour_tag);
}

bool Strand::end_detour(std::coroutine_handle<> leaf) {
  const std::unique_ptr<Detour> detour(static_cast<Detour*>(std::exchange(place_.slot, nullptr)));
  if (detour->try_again == nullptr) return false;
  Switcher::running_strand_ = this;
  const bool waits = detour->try_again(detour->awaitable, leaf);
  Switcher::running_strand_ = nullptr;
  return waits;
}

void Strand::make_ready_at(std::size_t tag) {
  if (TaskControl* const its_task = task()) {
    its_task->wait = nullptr;
    its_task->waiting_for = "stackless coroutine";
  }
  Switcher& own = scheduler();
  own.check_thread(task());
  ++own.ready_strand_count_;
  own.ready_.reserve(own.task_count_ + own.ready_strand_count_);
  own.ready_.push(this, static_cast<std::byte*>(leaf_.address()) + tag);
}

void Strand::tell_of_stray_exception(const char* what) {
  StrayException stray = {.is_stackless = true};
  if (what != nullptr) stray.what = what;
  if (const TaskControl* const awaiting = running_task()) {
    stray.task_name = awaiting->name();
    stray.spawn_site = awaiting->top().site;
  }
  TaskAccess::tell_of_stray_exception(Switcher::current(), stray);
}

void TaskStrand::suspend_task() {
  is_on_stack_of_task_ = false;
  TaskAccess::suspend(task_, TaskState::suspended);
}

// Waits by the million.
static_assert(sizeof(GroupStrand) == 14 * sizeof(void*));

void Strand::list(StrandGroup& group) {
  Switcher::current().instruments_->strand_groups.push_back(group);
}

GroupStrand::GroupStrand(std::coroutine_handle<> child, StrandGroup& group)
    : Strand(Kind::of_group, Switcher::current(), child) {
  make_ready();
  group.strands.push_back(*this);
  if (++group.count == 1) list(group);
}

void GroupStrand::leave(StrandGroup& group) {
  static_cast<ListNode<GroupStrandTag>&>(*this).unlink();
  if (--group.count == 0) group.unlink();
}

void GroupStrand::cancel() {
  // One that is cancelled already waits only where nothing but the notifier may end the wait.
  if (is_cancelled_) return;
  is_cancelled_ = true;
  if (is_waiting_) end(Wake::cancelled);
}

void* GroupStrand::operator new(std::size_t size_bytes) {
  return AsyncFramePool::allocate(size_bytes);
}

void GroupStrand::operator delete(void* place, std::size_t size_bytes) {
  AsyncFramePool::release(place, size_bytes);
}

}  // namespace corolane::coroutine::detail
