// Many hosts in one thread, under one simulated clock: whose turn it is, how long everything takes
// and what falls together follows from a seed.
//
//   Simulation simulation({.seed = 7});
//   Host& server = simulation.add_host("server");
//   server.start([&] { ... });
//   simulation.run_for(60s);
//
// Time passes when every host waits; a step of a host takes it a few microseconds. What one host
// sends to another is an event of the simulation, which runs on the other's loop.
//
// All of it belongs to one thread, and to nobody who runs on a host, but where said.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/testing/random.h"
#include "framework/testing/trace.h"

namespace corolane::sim {

class Host;

class Simulation {
 public:
  struct Options {
    std::uint64_t seed = 1;
    // Whether ready tasks run in any order, or in that in which they became ready.
    bool shuffles = true;
  };

  explicit Simulation(const Options& options);
  // Every host is dead, or dies now.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // The time that no host knows: their clocks are set and run as they please.
  TimePoint now() const { return now_; }
  // Since the beginning.
  Duration elapsed() const { return now_ - origin(); }
  std::uint64_t seed() const { return options_.seed; }
  bool shuffles() const { return options_.shuffles; }

  // Lives as long as the simulation.
  Host& add_host(std::string name);

  // A source of choices of its own, for one concern: that there are more of one concern changes
  // nothing for the others.
  test::Random dice(std::uint64_t concern) const;

  // From anywhere: runs `work`, which must not suspend, at that time, outside of all hosts.
  void at(TimePoint time, std::move_only_function<void()> work);
  // The same on the loop of that host, if it lives the same life then. While it is paused, later.
  void at(TimePoint time, Host& host, std::move_only_function<void()> work);

  // Lets so much time pass.
  void run_for(Duration duration) { run_until(now_ + duration); }
  void run_until(TimePoint time);
  // Until that holds, looked at after each step; false when it did not by then.
  bool run_until(const std::function<bool()>& is_done, TimePoint time);

  // Is called after each step, outside of all hosts.
  void set_on_step(std::function<void()> on_step) { on_step_ = std::move(on_step); }

  // From anywhere.
  Trace& trace() { return trace_; }
  std::uint64_t step_count() const { return step_count_; }

 private:
  struct Event;

  static TimePoint origin() { return TimePoint(std::chrono::hours(1)); }
  static bool later(const Event& a, const Event& b);
  bool step_one(TimePoint until);
  void step_host(Host& host);
  void fire_next();

  const Options options_;
  TimePoint now_ = origin();
  test::Random order_;  // Of what falls together.
  Trace trace_;
  std::vector<Event> events_;  // A heap, the next one first.
  std::uint64_t step_count_ = 0;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Host*> candidates_;  // Kept for its room.
  std::function<void()> on_step_;
};

}  // namespace corolane::sim
