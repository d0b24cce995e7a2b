// SPDX-License-Identifier: MIT
// A simulated machine with one process: a scheduler and its own clocks.
//
//   Host& server = simulation.add_host("server");
//   server.start([&] { serve(); });
//   simulation.run_for(1s);
//   server.kill();
//
// A host lives from start() until its main function has returned or it is killed, and may be
// started again. A killed host has no further visible effect; its tasks are cancelled to free what
// they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/event_source.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "coroutine/testing/random.h"

namespace corolane::sim {

class Simulation;

class Host final : public coroutine::EventSource {
 public:
  // Called by Simulation::add_host(). With a `process` it is a further thread of that one.
  Host(Simulation& simulation, std::string name, std::size_t index, Host* process = nullptr);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& name() const { return name_; }
  std::size_t index() const { return index_; }

  // Begins a life: `main` runs as a task. The host must not be alive.
  // `on_end` is called when a life has ended by itself, or with its process, and is buried.
  void start(std::function<void()> main, std::function<void()> on_end = nullptr);
  // Ends the life between two steps. Must not be called by one of its tasks. Its threads die, too;
  // a thread alone cannot be killed.
  void kill();
  bool is_alive() const { return is_alive_; }
  // Whether one of its tasks runs, or its loop, or one of a further thread.
  bool is_running() const;

  // A further thread of the process: a scheduler of its own, with the clocks, the pauses and the
  // death of the process. Made at the first call; `number` begins at 1.
  Host& thread(std::size_t number);
  // Itself unless it is a thread.
  Host& process() { return *process_; }
  const Host& process() const { return *process_; }
  // The thread that runs, or the process itself.
  Host& running();
  // The number of starts; a message for one life does not reach the next one.
  std::uint64_t life() const { return life_; }
  // `on_death` is called when a life ends, before its tasks are unwound.
  void add_on_death(std::function<void()> on_death) { on_death_.push_back(std::move(on_death)); }
  // `on_burial` is called when all resources of the life are freed.
  void add_on_burial(std::function<void()> on_burial) {
    on_burial_.push_back(std::move(on_burial));
  }

  // Stands still until `time`, like a process that is stopped, swapped out, or busy with work that
  // does not suspend: events wait. The pause falls into the middle of a turn, after the turn's time
  // was read.
  void pause_until(TimePoint time);

  // Limits the tasks of its next life, in each thread, to `count`; 0: the default.
  void set_stack_count_max(std::size_t count) { stack_count_max_ = count; }
  // From now on its steady clock runs fast by `parts_per_million`, or slow when that is negative.
  void set_drift(std::int64_t parts_per_million);
  // Sets its time of day wrong by `offset`.
  void set_time_of_day_off(Duration offset) { wall_offset_ = offset; }

  // Runs `work`, which must not suspend, on its loop. May be called from anywhere while the host is
  // alive.
  void post(std::move_only_function<void()> work) { scheduler_->post(std::move(work)); }
  // Runs `work` as a task that ends with the host at the latest. Called on its loop or by its
  // tasks.
  void spawn(std::string_view name, std::function<void()> work);
  // Cancels those tasks, and suspends until they have ended. Called by its main function.
  void end_tasks() { tasks_->cancel_and_join(); }
  // Calls `work` after this step, outside of the host. Called on its loop or by its tasks.
  void after_step(std::move_only_function<void()> work) { after_step_.push_back(std::move(work)); }

  // A readable list of its tasks and where each waits; empty when it is dead.
  std::string tasks_text() const;

  // For the simulation: the time of its next step, by the simulation's clock.
  TimePoint next_step() const;
  void step();

  // For its scheduler: its own clocks and randomness.
  TimePoint now() const override;
  std::chrono::sys_time<Duration> time_of_day() const override;
  bool draw(std::span<std::byte> bytes) const override;
  bool wait(Deadline deadline) override;
  void wake() override {}

 private:
  TimePoint local(TimePoint time) const;
  TimePoint global(TimePoint local_time) const;
  bool runs_itself() const;
  void end_life();
  void run_after_step();
  Result<void> finish();
  void bury();
  void unwind();

  Simulation& simulation_;
  const std::string name_;
  const std::size_t index_;
  Host* const process_;         // Itself unless it is a thread.
  std::vector<Host*> threads_;  // By number, less one; none of a thread.
  mutable test::Random chance_;
  bool is_alive_ = false;
  std::uint64_t life_ = 0;
  TimePoint paused_until_{};
  // Its clock showed `shown_` at `shown_at_`, and runs fast by `drift_`.
  TimePoint shown_;
  TimePoint shown_at_;
  std::int64_t drift_ = 0;
  Duration wall_offset_{};
  std::size_t stack_count_max_ = 0;
  // The time of the turn that a pause interrupted, by its own clock.
  mutable std::optional<TimePoint> stale_time_;
  // The time while a dead host unwinds its tasks, by its own clock.
  TimePoint afterlife_{};
  std::unique_ptr<coroutine::Scheduler> scheduler_;
  coroutine::TaskGroup* tasks_ = nullptr;                                // While it is alive.
  std::vector<std::pair<std::string, std::function<void()>>> to_spawn_;  // Before `main` begins.
  std::vector<std::move_only_function<void()>> after_step_;
  std::function<void()> on_end_;
  std::vector<std::function<void()>> on_death_;
  std::vector<std::function<void()>> on_burial_;
};

}  // namespace corolane::sim
