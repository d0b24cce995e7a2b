// SPDX-License-Identifier: MIT
// Compares every primitive that is held or counted with a simple model of it, by random operations:
// see model.h. The others are in messages_property_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "coroutine/sync/latch.h"
#include "coroutine/sync/mutex.h"
#include "coroutine/sync/semaphore.h"
#include "coroutine/sync/shared_mutex.h"
#include "test/coroutine/sync/model.h"

namespace corolane::coroutine {
namespace {

// Mutex and SharedMutex: their holders and the queue. Readers behind a writer that gives up may
// give up themselves before it has let them pass: with SharedMutex, one command at a time.
template <typename M>
class LockModel final : public Model {
  static constexpr bool is_shared = std::is_same_v<M, SharedMutex>;
  enum Kind { unlock = give_back, lock, try_lock, try_lock_until };
  // The argument of a command: alone, or shared with others.
  enum Mode { exclusive, shared };

 public:
  LockModel() : Model(is_shared ? 1 : 3) {}

 private:
  Command choose(Worker worker) override {
    if (is_holding(worker)) return {.kind = unlock};
    Command command{.kind = lock + below(3),
                    .argument = is_shared ? below(2) : exclusive,
                    .deadline = random_deadline(worker)};
    if (command.kind == try_lock) command.deadline = Deadline::passed();
    return command;
  }

  Outcome perform(Worker worker, const Command& command) override {
    if constexpr (is_shared) {
      const bool is_reader =
          command.kind == unlock ? held_before_[worker] == shared : command.argument == shared;
      if (is_reader) return perform_shared(command);
    }
    switch (command.kind) {
      case unlock:
        mutex_.unlock();
        return 0;
      case lock:
        mutex_.lock();
        return 0;
      case try_lock:
        return outcome_of(mutex_.try_lock());
      default:
        return outcome_of(mutex_.try_lock_until(command.deadline));
    }
  }

  Outcome perform_shared(const Command& command)
    requires is_shared
  {
    switch (command.kind) {
      case unlock:
        mutex_.unlock_shared();
        return 0;
      case lock:
        mutex_.lock_shared();
        return 0;
      case try_lock:
        return outcome_of(mutex_.try_lock_shared());
      default:
        return outcome_of(mutex_.try_lock_shared_until(command.deadline));
    }
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == unlock) {
      held_before_[worker] = *held_[worker];
      held_[worker].reset();
      complete(worker, 0);
    } else if (waiting().empty() && has_room_for(command.argument)) {
      hold(worker, command.argument);
    } else {
      wait({.worker = worker,
            .command = command,
            .gives_up = command.kind != lock,
            .tells_why = false});
    }
  }

  void settle() override {
    while (!waiting().empty() && has_room_for(waiting().front().command.argument)) {
      const auto first = take_first();
      hold(first->worker, first->command.argument);
    }
  }

  bool has_room_for(int mode) const {
    return std::ranges::all_of(held_, [&](const std::optional<int>& held) {
      return !held || (*held == shared && mode == shared);
    });
  }
  void hold(Worker worker, int mode) {
    held_[worker] = mode;
    complete(worker, 0);
  }
  bool is_holding(Worker worker) const override { return held_[worker].has_value(); }

  M mutex_;
  std::array<std::optional<int>, worker_count> held_{};
  std::array<int, worker_count> held_before_{};
};

TEST(PrimitivesPropertyTest, MutexIsLikeItsModel) { LockModel<Mutex>().run(); }
TEST(PrimitivesPropertyTest, SharedMutexIsLikeItsModel) { LockModel<SharedMutex>().run(); }

class SemaphoreModel final : public Model {
  enum Kind { acquire, try_acquire, release };

  Command choose(Worker worker) override {
    switch (below(4)) {
      case 0:
        return {.kind = release, .argument = below(3)};
      case 1:
        return {.kind = try_acquire};
      default:
        return {.kind = acquire, .deadline = random_deadline(worker)};
    }
  }

  Outcome perform(Worker, const Command& command) override {
    if (command.kind == acquire) return outcome_of(semaphore_.acquire(command.deadline));
    if (command.kind == try_acquire) return outcome_of(semaphore_.try_acquire());
    semaphore_.release(static_cast<std::size_t>(command.argument));
    return 0;
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == release) {
      count_ += command.argument;
      complete(worker, 0);
    } else if (count_ > 0) {
      --count_;
      complete(worker, 0);
    } else if (command.kind == try_acquire) {
      complete(worker, gave_up);
    } else {
      wait({.worker = worker, .command = command});
    }
  }

  void settle() override {
    for (; count_ > 0 && !waiting().empty(); --count_) complete(take_first()->worker, 0);
  }

  Semaphore semaphore_{2};
  int count_ = 2;
};

TEST(PrimitivesPropertyTest, SemaphoreIsLikeItsModel) { SemaphoreModel().run(); }

class LatchModel final : public Model {
  enum Kind { wait_for_it, count_down, renew };

  Command choose(Worker worker) override {
    if (missing_ == 0 && is_at_rest()) return {.kind = renew, .argument = below(6)};
    if (missing_ > 0 && below(2) == 0) return {.kind = count_down, .argument = below(2)};
    return {.kind = wait_for_it, .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker, const Command& command) override {
    if (command.kind == wait_for_it) return outcome_of(latch_->wait(command.deadline));
    if (command.kind == renew) {
      latch_.emplace(static_cast<std::size_t>(command.argument));
    } else {
      latch_->count_down(static_cast<std::size_t>(command.argument));
    }
    return 0;
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == wait_for_it && missing_ > 0) {
      wait({.worker = worker, .command = command});
      return;
    }
    complete(worker, 0);
    if (command.kind == renew) missing_ = command.argument;
    if (command.kind == count_down) missing_ -= command.argument;
  }

  void settle() override {
    while (missing_ == 0 && !waiting().empty()) complete(take_first()->worker, 0);
  }

  std::optional<Latch> latch_{std::in_place, 3};
  int missing_ = 3;
};

TEST(PrimitivesPropertyTest, LatchIsLikeItsModel) { LatchModel().run(); }

}  // namespace
}  // namespace corolane::coroutine
