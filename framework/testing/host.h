// A machine of a simulation with one process: a scheduler, and clocks that are its own.
//
// It lives from start() until its main function has returned or it is killed, and may be started
// again. A host that is killed does nothing any more that anybody else could see; what its tasks
// hold is given back as if they were cancelled.
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
  // For Simulation::add_host().
  Host(Simulation& simulation, std::string name, std::size_t index);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& name() const { return name_; }
  std::size_t index() const { return index_; }

  // Begins a life: `main` runs as a task. Not while it is alive.
  void start(std::function<void()> main);
  // Ends it between two steps. Not by one of its tasks.
  void kill();
  bool is_alive() const { return is_alive_; }
  // How often it was started; a message for one life does not reach the next one.
  std::uint64_t life() const { return life_; }
  // Is called when a life ends, before anything of it is given back.
  void add_on_death(std::function<void()> on_death) { on_death_.push_back(std::move(on_death)); }
  // And this one when all of it is given back.
  void add_on_burial(std::function<void()> on_burial) {
    on_burial_.push_back(std::move(on_burial));
  }

  // Stands still until then, as a process that is stopped, swapped out, or busy with something that
  // does not suspend: what comes waits. It is in the middle of a turn, whose time it has read
  // before.
  void pause_until(TimePoint time);

  // In its next life there is memory for so many tasks; 0: for as many as ever.
  void set_stack_count_max(std::size_t count) { stack_count_max_ = count; }
  // Its steady clock goes faster from now on, by so many millionths, or slower.
  void set_drift(std::int64_t parts_per_million);
  // Somebody sets its time of day by so much forwards, or backwards.
  void set_time_of_day_off(Duration offset) { wall_offset_ = offset; }

  // From anywhere: runs `work`, which must not suspend, on its loop. It must be alive.
  void post(std::move_only_function<void()> work) { scheduler_->post(std::move(work)); }
  // On its loop or by its tasks: runs `work` as a task that ends with the host at the latest.
  void spawn(std::string_view name, std::function<void()> work);
  // By its main function: ends those, and suspends until they have ended.
  void end_tasks() { tasks_->cancel_and_join(); }
  // By its tasks or its loop: calls it when this step is over, outside of the host.
  void after_step(std::move_only_function<void()> work) { after_step_.push_back(std::move(work)); }

  // Its tasks, and where each waits, for people; empty when it is dead.
  std::string tasks_text() const;

  // For the simulation: when it has something to do, by the simulation's clock.
  TimePoint next_step() const;
  void step();

  // For its scheduler: its own clocks, and chance.
  TimePoint now() const override;
  std::chrono::sys_time<Duration> time_of_day() const override;
  bool draw(std::span<std::byte> bytes) const override;
  bool wait(Deadline deadline) override;
  void wake() override {}

 private:
  TimePoint local(TimePoint time) const;
  TimePoint global(TimePoint local_time) const;
  void end_life();
  void run_after_step();
  void bury();

  Simulation& simulation_;
  const std::string name_;
  const std::size_t index_;
  mutable test::Random chance_;
  bool is_alive_ = false;
  std::uint64_t life_ = 0;
  TimePoint paused_until_{};
  // Its clock: what it showed, when, and how much faster it goes.
  TimePoint shown_;
  TimePoint shown_at_;
  std::int64_t drift_ = 0;
  Duration wall_offset_{};
  std::size_t stack_count_max_ = 0;
  // When it was paused, by its own clock: the time of the turn in which it goes on.
  mutable std::optional<TimePoint> stale_time_;
  // Of a dead one, by its own clock: how far its tasks have come in ending.
  TimePoint afterlife_{};
  std::unique_ptr<coroutine::Scheduler> scheduler_;
  coroutine::TaskGroup* tasks_ = nullptr;                                // While it is alive.
  std::vector<std::pair<std::string, std::function<void()>>> to_spawn_;  // Before it begins.
  std::vector<std::move_only_function<void()>> after_step_;
  std::vector<std::function<void()>> on_death_;
  std::vector<std::function<void()>> on_burial_;
};

}  // namespace corolane::sim
