// SPDX-License-Identifier: MIT
// Drives the workers, and compares the outcomes with those of the model.
#include "test/coroutine/sync/model.h"

#include <gtest/gtest.h>

#include <chrono>

namespace corolane::coroutine {
namespace {

using namespace std::chrono_literals;

// Deadlines end in the number of the worker, so that no two of them pass at the same time.
constexpr Duration::rep deadline_grain = 16;

TimePoint rounded(TimePoint time, Duration::rep last_digit) {
  const auto count = time.time_since_epoch().count();
  return TimePoint(Duration(count - count % deadline_grain + last_digit));
}

}  // namespace

void Model::run() {
  for (Worker worker = 0; worker < worker_count; ++worker) start(worker);
  EXPECT_TRUE(yield());
  while (given_count_ < operation_count && !testing::Test::HasFailure()) {
    if (random_.one_in(4)) {
      pass_time();
    } else {
      run_batch();
    }
  }
  finish();
}

void Model::wait(const Waiting& waiting) {
  if (waiting.gives_up) {
    const bool is_cancelled = members_[waiting.worker].cancelled;
    if (is_cancelled || waiting.command.deadline.has_passed()) {
      const Code code = is_cancelled ? Code::cancelled : Code::deadline_exceeded;
      give_up(waiting, waiting.tells_why ? failed(code) : gave_up);
      return;
    }
  }
  waiting_.push_back(waiting);
}

Deadline Model::random_deadline(Worker worker) {
  switch (random_.below(8)) {
    case 0:
      return Deadline::passed();
    case 1:
    case 2:
      return Deadline::never();
    default:
      return Deadline::at(
          rounded(now() + 1us + random_.up_to(30ms), static_cast<Duration::rep>(worker)));
  }
}

bool Model::is_waiting(Worker worker) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& one) { return one.worker == worker; });
}

void Model::start(Worker worker) {
  members_[worker].cancelled = false;
  members_[worker].task = spawn("worker", [this, worker] { serve(worker); });
}

void Model::stop(Worker worker) {
  members_[worker].command = {.kind = quit};
  members_[worker].idle.notify_one();
  EXPECT_TRUE(members_[worker].task.join(Deadline::never()));
}

void Model::serve(Worker worker) {
  Member& self = members_[worker];
  while (true) {
    self.idle.wait(Deadline::never(), Cancellation::ignore);
    if (self.command.kind == quit) return;
    Outcome outcome = 0;
    if (self.command.kind == cancel_other) {
      members_[static_cast<Worker>(self.command.argument)].task.cancel();
    } else {
      outcome = perform(worker, self.command);
    }
    happened_.emplace_back(worker, outcome);
  }
}

void Model::give(Worker worker, const Command& command) {
  ++given_count_;
  members_[worker].command = command;
  members_[worker].idle.notify_one();
  if (command.kind == cancel_other) {
    complete(worker, 0);
    cancel(static_cast<Worker>(command.argument));
  } else {
    apply(worker, command);
    settle();
  }
}

void Model::cancel(Worker worker) {
  members_[worker].cancelled = true;
  for (std::size_t index = 0; index < waiting_.size(); ++index) {
    if (waiting_[index].worker != worker || !waiting_[index].gives_up) continue;
    end_wait(index, Code::cancelled);
    return;
  }
}

void Model::end_wait(std::size_t index, Code code) {
  const Waiting ended = waiting_[index];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
  give_up(ended, ended.tells_why ? failed(code) : gave_up);
  settle();
}

void Model::run_batch() {
  const std::size_t size = 1 + random_.below(batch_size_max_);
  std::array<bool, worker_count> has_command{};
  std::size_t given = 0;
  for (std::size_t choice = 0; choice < size; ++choice) {
    const Worker worker = random_.below(worker_count);
    if (has_command[worker] || is_waiting(worker)) continue;
    // Workers that were woken in this batch have not run yet.
    if (std::ranges::any_of(expected_, [&](const auto& one) { return one.first == worker; })) {
      continue;
    }
    if (members_[worker].cancelled && given == 0 && !is_holding(worker)) {
      stop(worker);
      start(worker);
      static_cast<void>(yield());
    }
    has_command[worker] = true;
    ++given;
    if (random_.one_in(16)) {
      give(worker, {.kind = cancel_other, .argument = below(worker_count)});
    } else {
      give(worker, choose(worker));
    }
  }
  if (given > 0) {
    compare(given == 1);
  } else if (waiting_.size() == worker_count) {
    // Only an outside event can end this.
    const Worker worker = waiting_[random_.below(worker_count)].worker;
    members_[worker].task.cancel();
    cancel(worker);
    compare(/*in_order=*/true);
  }
}

void Model::pass_time() {
  const TimePoint until = rounded(now() + random_.up_to(20ms), deadline_grain - 1);
  while (true) {
    std::size_t first = waiting_.size();
    for (std::size_t index = 0; index < waiting_.size(); ++index) {
      const Waiting& one = waiting_[index];
      if (!one.gives_up || one.command.deadline > Deadline::at(until)) continue;
      if (first == waiting_.size() || one.command.deadline < waiting_[first].command.deadline) {
        first = index;
      }
    }
    if (first == waiting_.size()) break;
    end_wait(first, Code::deadline_exceeded);
  }
  EXPECT_TRUE(sleep_until(Deadline::at(until)));
  compare(/*in_order=*/true);
}

void Model::compare(bool in_order) {
  // A woken worker may wake the next, and some run twice before all are at rest.
  for (std::size_t turn = 0; turn <= 2 * worker_count; ++turn) EXPECT_TRUE(yield());
  if (!in_order) {
    std::ranges::sort(expected_);
    std::ranges::sort(happened_);
  }
  if (happened_ != expected_) {
    ADD_FAILURE() << "after " << given_count_ << " commands, workers and outcomes are "
                  << testing::PrintToString(happened_) << " instead of "
                  << testing::PrintToString(expected_);
  }
  expected_.clear();
  happened_.clear();
}

void Model::finish() {
  for (Worker worker = 0; worker < worker_count; ++worker) {
    members_[worker].task.cancel();
    cancel(worker);
    compare(/*in_order=*/true);
  }
  for (Worker worker = 0; worker < worker_count && !testing::Test::HasFailure();) {
    if (is_holding(worker)) {
      give(worker, {.kind = give_back});
      compare(/*in_order=*/true);
      worker = 0;
    } else {
      ++worker;
    }
  }
  // The model knows the end of every wait: a failed run aborts with all its tasks.
  EXPECT_TRUE(waiting_.empty());
  for (Worker worker = 0; worker < worker_count; ++worker) stop(worker);
}

}  // namespace corolane::coroutine
