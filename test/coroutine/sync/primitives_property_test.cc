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

#include "coroutine/sync/condition_variable.h"
#include "coroutine/sync/gate.h"
#include "coroutine/sync/keyed_mutex.h"
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

// Woken waiters compete for the mutex with latecomers: one command at a time.
class ConditionVariableModel final : public Model {
 public:
  ConditionVariableModel() : Model(1) {}

 private:
  // Kinds below `sleep` wait for the mutex, `sleep` waits for the condition.
  enum Kind { release = give_back, hold, enter, relock, sleep, notify_one, notify_all };

  Command choose(Worker worker) override {
    if (is_holding(worker) && below(2) == 0) return {.kind = release};
    switch (below(is_holding(worker) ? 2 : 4)) {
      case 0:
        return {.kind = notify_one};
      case 1:
        return {.kind = notify_all};
      case 2:
        return {.kind = hold};
      default:
        return {.kind = enter, .deadline = random_deadline(worker)};
    }
  }

  Outcome perform(Worker, const Command& command) override {
    switch (command.kind) {
      case release:
        mutex_.unlock();
        return 0;
      case hold:
        mutex_.lock();
        return 0;
      case notify_one:
        changed_.notify_one();
        return 0;
      case notify_all:
        changed_.notify_all();
        return 0;
      default:
        std::unique_lock lock(mutex_);
        const auto waited = changed_.wait_until(lock, command.deadline);
        EXPECT_TRUE(lock.owns_lock());
        return outcome_of(waited);
    }
  }

  void apply(Worker worker, const Command& command) override {
    switch (command.kind) {
      case release:
        holder_.reset();
        complete(worker, 0);
        return;
      case notify_one:
        complete(worker, 0);
        wake_one();
        return;
      case notify_all:
        complete(worker, 0);
        while (wake_one()) continue;
        return;
      default:
        lock(worker, command);
    }
  }

  static bool waits_for_mutex(const Waiting& one) { return one.command.kind < sleep; }

  void lock(Worker worker, const Command& command) {
    if (!holder_ && std::ranges::none_of(waiting(), waits_for_mutex)) {
      go_on_locked(worker, command);
    } else {
      wait({.worker = worker, .command = command, .gives_up = false});
    }
  }
  void go_on_locked(Worker worker, const Command& command) {
    if (command.kind == hold) holder_ = worker;
    if (command.kind == enter) {
      wait({.worker = worker, .command = {.kind = sleep, .deadline = command.deadline}});
    } else {
      complete(worker, command.argument);
    }
  }
  bool wake_one() {
    const auto woken = take_first([](const Waiting& one) { return one.command.kind == sleep; });
    if (woken) give_up(*woken, 0);
    return woken.has_value();
  }
  void give_up(const Waiting& one, Outcome outcome) override {
    lock(one.worker, {.kind = relock, .argument = outcome});
  }
  void settle() override {
    while (!holder_) {
      const auto next = take_first(waits_for_mutex);
      if (!next) return;
      go_on_locked(next->worker, next->command);
    }
  }
  bool is_holding(Worker worker) const override { return holder_ == worker; }

  Mutex mutex_;
  ConditionVariable changed_;
  std::optional<Worker> holder_;
};

TEST(PrimitivesPropertyTest, ConditionVariableIsLikeItsModel) { ConditionVariableModel().run(); }

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

class GateModel final : public Model {
  enum Kind { leave = give_back, enter, close, renew };

  Command choose(Worker worker) override {
    if (is_holding(worker)) return {.kind = leave};
    if (is_closed_ && is_at_rest() && inside_count() == 0) return {.kind = renew};
    if (below(4) > 0) return {.kind = enter};
    return {.kind = close, .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker worker, const Command& command) override {
    switch (command.kind) {
      case enter: {
        auto pass = gate_->enter();
        if (!pass) return failed(pass.error().code());
        passes_[worker] = std::move(*pass);
        return 0;
      }
      case leave:
        passes_[worker].reset();
        return 0;
      case close:
        return outcome_of(gate_->close(command.deadline));
      default:
        gate_.emplace();
        return 0;
    }
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == close) {
      is_closed_ = true;
      wait_or_complete(worker, command);
      return;
    }
    complete(worker, command.kind == enter && is_closed_ ? failed(Code::unavailable) : 0);
    if (command.kind == renew) is_closed_ = false;
    if (command.kind == leave) is_inside_[worker] = false;
    if (command.kind == enter) is_inside_[worker] = !is_closed_;
  }

  void wait_or_complete(Worker worker, const Command& command) {
    if (inside_count() == 0) {
      complete(worker, 0);
    } else {
      wait({.worker = worker, .command = command});
    }
  }
  void settle() override {
    while (inside_count() == 0 && !waiting().empty()) complete(take_first()->worker, 0);
  }
  std::ptrdiff_t inside_count() const { return std::ranges::count(is_inside_, true); }
  bool is_holding(Worker worker) const override { return is_inside_[worker]; }

  std::optional<Gate> gate_{std::in_place};
  std::array<std::optional<Gate::Pass>, worker_count> passes_{};
  bool is_closed_ = false;
  std::array<bool, worker_count> is_inside_{};
};

TEST(PrimitivesPropertyTest, GateIsLikeItsModel) { GateModel().run(); }

class KeyedMutexModel final : public Model {
  enum Kind { unlock = give_back, lock };
  static constexpr int key_count = 3;

  Command choose(Worker worker) override {
    if (is_holding(worker)) return {.kind = unlock};
    return {.kind = lock, .argument = below(key_count), .deadline = random_deadline(worker)};
  }

  Outcome perform(Worker worker, const Command& command) override {
    if (command.kind == unlock) {
      guards_[worker].reset();
      return 0;
    }
    auto guard = mutex_.lock(command.argument, command.deadline);
    if (!guard) return failed(guard.error().code());
    guards_[worker] = std::move(*guard);
    return 0;
  }

  void apply(Worker worker, const Command& command) override {
    if (command.kind == unlock) {
      const int key = *std::exchange(keys_[worker], std::nullopt);
      complete(worker, 0);
      const auto next = take_first([&](const Waiting& one) { return one.command.argument == key; });
      if (next) hold(next->worker, key);
    } else if (std::ranges::find(keys_, std::optional(command.argument)) == keys_.end()) {
      hold(worker, command.argument);
    } else {
      wait({.worker = worker, .command = command});
    }
  }

  void hold(Worker worker, int key) {
    keys_[worker] = key;
    complete(worker, 0);
  }
  bool is_holding(Worker worker) const override { return keys_[worker].has_value(); }

  KeyedMutex<int> mutex_;
  std::array<std::optional<KeyedMutex<int>::Guard>, worker_count> guards_{};
  std::array<std::optional<int>, worker_count> keys_{};
};

TEST(PrimitivesPropertyTest, KeyedMutexIsLikeItsModel) { KeyedMutexModel().run(); }

}  // namespace
}  // namespace corolane::coroutine
