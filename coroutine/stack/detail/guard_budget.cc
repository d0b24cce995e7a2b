// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/guard_budget.h"

#include <algorithm>

#include "coroutine/base/check.h"
#include "coroutine/stack/detail/stack_memory.h"

namespace corolane::coroutine::detail {

GuardBudget& GuardBudget::of_process() {
  // Never destroyed: a pool may live as long as the process.
  static auto& budget = *new GuardBudget(StackMemory(StackGuard::mprotect).guard_count_max());
  return budget;
}

GuardBudget::Statistics GuardBudget::statistics() const {
  const std::scoped_lock lock(mutex_);
  return {.count_max = count_max_, .taken_count = taken_count_, .member_count = members_.size()};
}

void GuardBudget::join(Member& member) {
  const std::scoped_lock lock(mutex_);
  members_.push_back(&member);
  divide();
}

void GuardBudget::leave(Member& member) {
  const std::scoped_lock lock(mutex_);
  taken_count_ -= member.taken_count_;
  std::erase(members_, &member);
  divide();
}

void GuardBudget::divide() {
  // The member that wants least is served first; the rest is divided equally among the others.
  std::ranges::sort(members_, {}, &Member::wanted_count_);
  std::size_t left_count = count_max_;
  std::size_t members_left = members_.size();
  for (Member* member : members_) {
    const std::size_t share = std::min(member->wanted_count_, left_count / members_left);
    member->share_.store(share, std::memory_order_relaxed);
    left_count -= share;
    --members_left;
  }
}

GuardBudget::Member::Member(GuardBudget& budget, std::size_t wanted_count)
    : budget_(budget), wanted_count_(wanted_count) {
  budget_.join(*this);
}

GuardBudget::Member::~Member() { budget_.leave(*this); }

std::size_t GuardBudget::Member::take(std::size_t count) {
  const std::scoped_lock lock(budget_.mutex_);
  const std::size_t own_left = share() - std::min(share(), taken_count_);
  const std::size_t all_left = budget_.count_max_ - budget_.taken_count_;
  count = std::min({count, own_left, all_left});
  taken_count_ += count;
  budget_.taken_count_ += count;
  return count;
}

void GuardBudget::Member::give_back(std::size_t count) {
  const std::scoped_lock lock(budget_.mutex_);
  check(count <= taken_count_, "a pool gives back guards that it has taken");
  taken_count_ -= count;
  budget_.taken_count_ -= count;
}

}  // namespace corolane::coroutine::detail
