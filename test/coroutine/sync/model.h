// SPDX-License-Identifier: MIT
// Compares a primitive with a simple model of it.
//
// Some workers, each a task, perform random commands on the primitive. The model predicts for every
// command whether it completes at once or waits, which waits it ends, and with what outcome. After
// each batch of commands the tasks come to rest, and the outcomes must be exactly those of the
// model. Time passes and workers are cancelled at random, too.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "coroutine/testing/random.h"
#include "coroutine/testing/sanitizers.h"
#include "coroutine/wait_queue.h"

namespace corolane::coroutine {

// The outcome of a command: a value, or the negative number of a Code.
using Outcome = int;

inline Outcome failed(Code code) { return -static_cast<Outcome>(code); }
inline Outcome outcome_of(const Result<void>& result) {
  return result ? 0 : failed(result.error().code());
}
template <typename T>
Outcome outcome_of(const Result<T>& result) {
  return result ? static_cast<Outcome>(*result) : failed(result.error().code());
}
// The outcome of a call that does not report why it gave up.
constexpr Outcome gave_up = -1000;
inline Outcome outcome_of(bool succeeded) { return succeeded ? 0 : gave_up; }

struct Command {
  int kind;
  int argument = 0;
  Deadline deadline = Deadline::never();
};

class Model {
 public:
  using Worker = std::size_t;
  static constexpr std::size_t worker_count = 8;
  const int operation_count = test::under_slow_watch() ? 30'000 : 1'000'000;

  // `batch_size_max` commands are given before any task that they wake has run: one for a primitive
  // whose woken waiters compete with latecomers.
  explicit Model(std::size_t batch_size_max = 3) : batch_size_max_(batch_size_max) {}
  virtual ~Model() = default;

  // Performs that many random commands; stops at the first failure.
  void run();

 protected:
  struct Waiting {
    Worker worker;
    Command command;
    bool gives_up = true;  // On its deadline, and when cancelled.
    bool tells_why = true;
  };

  // A command that `worker`, which is not waiting, may give now.
  virtual Command choose(Worker worker) = 0;
  // The primitive: performs the command, in the worker's own task. May suspend.
  virtual Outcome perform(Worker worker, const Command& command) = 0;
  // The model: predicts the outcomes by complete() and wait(), in the order of their occurrence.
  virtual void apply(Worker worker, const Command& command) = 0;
  // Called when a waiter has given up.
  virtual void give_up(const Waiting& waiting, Outcome outcome) {
    complete(waiting.worker, outcome);
  }
  // Called after every change: completes the waiters whose turn it is now.
  virtual void settle() {}
  // True while a worker holds a resource that the command `give_back` must return.
  virtual bool is_holding(Worker) const { return false; }
  static constexpr int give_back = 0;

  // The waiters, in order of arrival.
  std::vector<Waiting>& waiting() { return waiting_; }
  // No worker waits, and none was woken in this batch.
  bool is_at_rest() const { return waiting_.empty() && expected_.empty(); }
  void complete(Worker worker, Outcome outcome) { expected_.emplace_back(worker, outcome); }
  // Removes the first waiter for which `is_chosen` holds.
  template <typename F>
  std::optional<Waiting> take_first(F&& is_chosen) {
    const auto found = std::ranges::find_if(waiting_, std::forward<F>(is_chosen));
    if (found == waiting_.end()) return std::nullopt;
    Waiting taken = *found;
    waiting_.erase(found);
    return taken;
  }
  std::optional<Waiting> take_first() {
    return take_first([](const Waiting&) { return true; });
  }
  // Fails at once when the deadline has passed or the worker is cancelled.
  void wait(const Waiting& waiting);

  int below(int bound) { return static_cast<int>(random_.below(static_cast<unsigned>(bound))); }
  // Mostly soon; may be in the past, and may be never.
  Deadline random_deadline(Worker worker);

 private:
  static constexpr int cancel_other = -1;
  static constexpr int quit = -2;

  struct Member {
    Task<void> task;
    WaitQueue idle{"command"};
    Command command{};
    bool cancelled = false;
  };

  bool is_waiting(Worker worker) const;
  void start(Worker worker);
  void stop(Worker worker);
  void serve(Worker worker);
  void give(Worker worker, const Command& command);
  void cancel(Worker worker);
  void run_batch();
  void pass_time();
  void end_wait(std::size_t index, Code code);
  void compare(bool in_order);
  void finish();

  const std::size_t batch_size_max_;
  test::Random random_;
  std::array<Member, worker_count> members_;
  std::vector<Waiting> waiting_;
  std::vector<std::pair<Worker, Outcome>> expected_;
  std::vector<std::pair<Worker, Outcome>> happened_;
  int given_count_ = 0;
};

}  // namespace corolane::coroutine
