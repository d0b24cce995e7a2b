// SPDX-License-Identifier: MIT
// Shares the guards that a process can have among its stack pools.
//
// A guard by mprotect splits a mapping in two, and vm.max_map_count bounds the mappings of a whole
// process. Were each pool to take as many as the kernel allows, the first would leave nothing to
// the others, nor to malloc(). So each member of the budget has a share: all are equal, but a pool
// that wants less gets what it wants, and the others share the rest.
//
//   GuardBudget::Member member(GuardBudget::of_process(), wanted_count);
//   const std::size_t taken_count = member.take(16);
//
// A share shrinks when another pool joins. A member keeps what it holds beyond its share until it
// gives it back; meanwhile others get less than theirs.
//
// Thread-safe; takes a lock for a moment, except in share().
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace corolane::coroutine::detail {

class GuardBudget {
 public:
  class Member;
  struct Statistics {
    std::size_t count_max = 0;    // For all members together.
    std::size_t taken_count = 0;  // By all of them.
    std::size_t member_count = 0;
  };

  explicit GuardBudget(std::size_t count_max) : count_max_(count_max) {}
  GuardBudget(const GuardBudget&) = delete;
  GuardBudget& operator=(const GuardBudget&) = delete;

  // That of all pools of this process whose guards split mappings.
  static GuardBudget& of_process();

  Statistics statistics() const;

 private:
  void join(Member& member);
  void leave(Member& member);
  // Needs the lock.
  void divide();

  const std::size_t count_max_;
  mutable std::mutex mutex_;
  std::size_t taken_count_ = 0;
  std::vector<Member*> members_;
};

// Used by one thread. Gives everything back at its end.
class GuardBudget::Member {
 public:
  Member(GuardBudget& budget, std::size_t wanted_count);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // How many it may hold now.
  std::size_t share() const { return share_.load(std::memory_order_relaxed); }
  // Takes `count` guards, or as many as the share and the budget have left; returns the number.
  std::size_t take(std::size_t count);
  // Gives back guards that it has taken.
  void give_back(std::size_t count);

  Statistics statistics() const { return budget_.statistics(); }

 private:
  friend GuardBudget;

  GuardBudget& budget_;
  const std::size_t wanted_count_;
  std::size_t taken_count_ = 0;
  std::atomic<std::size_t> share_ = 0;  // Written under the lock of the budget.
};

}  // namespace corolane::coroutine::detail
