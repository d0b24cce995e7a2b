// SPDX-License-Identifier: MIT
// Many hosts in one thread, under one simulated clock. A seed decides whose turn it is, how long
// everything takes, and which events coincide.
//
//   Simulation simulation({.seed = 7});
//   Host& server = simulation.add_host("server");
//   server.start([&] { serve(); });
//   simulation.run_for(60s);
//
// Time passes when every host waits; a step of a host takes a few microseconds. A message between
// hosts is an event of the simulation, which runs on the receiver's loop.
//
// All of it belongs to one thread, and is called from outside of hosts, unless stated otherwise.
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
    // Ready tasks run in any order, instead of first come, first served.
    bool shuffles = true;
  };

  explicit Simulation(const Options& options);
  // Kills all hosts.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // The true time, which no host knows: their clocks are off and drift.
  TimePoint now() const { return now_; }
  // Since the beginning.
  Duration elapsed() const { return now_ - origin(); }
  std::uint64_t seed() const { return options_.seed; }
  bool shuffles() const { return options_.shuffles; }

  // Lives as long as the simulation.
  Host& add_host(std::string name);
  // Called by Host::thread().
  Host& add_thread(Host& process, std::string name);

  // A separate source of randomness for one concern: draws of one concern do not affect the others.
  test::Random dice(std::uint64_t concern) const;

  // Runs `work`, which must not suspend, at `time`, outside of all hosts. May be called from
  // anywhere.
  void at(TimePoint time, std::move_only_function<void()> work);
  // The same on the loop of `host`, if it still lives the same life; after the end of a pause.
  void at(TimePoint time, Host& host, std::move_only_function<void()> work);

  // Advances time by `duration`.
  void run_for(Duration duration) { run_until(now_ + duration); }
  void run_until(TimePoint time);
  // Runs until `is_done` returns true, checked after each step. Returns false when it did not by
  // `time`.
  bool run_until(const std::function<bool()>& is_done, TimePoint time);

  // `on_step` is called after each step, outside of all hosts.
  void set_on_step(std::function<void()> on_step) { on_step_ = std::move(on_step); }

  // May be called from anywhere.
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
  test::Random order_;  // Orders events that coincide.
  Trace trace_;
  std::vector<Event> events_;  // A heap with the next event on top.
  std::uint64_t step_count_ = 0;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Host*> candidates_;  // Kept for its capacity.
  std::function<void()> on_step_;
};

}  // namespace corolane::sim
