// SPDX-License-Identifier: MIT
// The queue of events, and the choice of the next step.
#include "framework/testing/simulation.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/split_mix.h"
#include "framework/testing/host.h"

namespace corolane::sim {
namespace {

// The longest time that a step of a host takes.
constexpr Duration step_time_max = std::chrono::microseconds(5);

}  // namespace

struct Simulation::Event {
  TimePoint time;
  std::uint64_t tie;  // Orders events of the same time.
  Host* host;         // Null: runs outside of hosts.
  std::uint64_t life;
  std::move_only_function<void()> work;
};

// The order of a heap with the next event on top.
bool Simulation::later(const Event& a, const Event& b) {
  return a.time != b.time ? a.time > b.time : a.tie > b.tie;
}

Simulation::Simulation(const Options& options) : options_(options), order_(dice(0)) {}

Simulation::~Simulation() {
  for (const auto& host : hosts_) host->kill();
}

Host& Simulation::add_host(std::string name) {
  return *hosts_.emplace_back(std::make_unique<Host>(*this, std::move(name), hosts_.size()));
}

Host& Simulation::add_thread(Host& process, std::string name) {
  return *hosts_.emplace_back(
      std::make_unique<Host>(*this, std::move(name), hosts_.size(), &process));
}

test::Random Simulation::dice(std::uint64_t concern) const {
  SplitMix64 mixed(options_.seed * 0x100000001b3 + concern);
  return test::Random(mixed.next());
}

void Simulation::at(TimePoint time, std::move_only_function<void()> work) {
  events_.push_back({.time = std::max(time, now_),
                     .tie = order_.any(),
                     .host = nullptr,
                     .life = 0,
                     .work = std::move(work)});
  std::ranges::push_heap(events_, later);
}

void Simulation::at(TimePoint time, Host& host, std::move_only_function<void()> work) {
  events_.push_back({.time = std::max(time, now_),
                     .tie = order_.any(),
                     .host = &host,
                     .life = host.life(),
                     .work = std::move(work)});
  std::ranges::push_heap(events_, later);
}

void Simulation::fire_next() {
  std::ranges::pop_heap(events_, later);
  Event event = std::move(events_.back());
  events_.pop_back();
  if (event.host == nullptr) return event.work();
  if (event.host->is_alive() && event.host->life() == event.life) {
    event.host->post(std::move(event.work));
  }
}

void Simulation::step_host(Host& host) {
  host.step();
  now_ += order_.up_to(step_time_max);
}

// Returns false when nothing happens before `until`.
bool Simulation::step_one(TimePoint until) {
  candidates_.clear();
  TimePoint next = events_.empty() ? TimePoint::max() : events_.front().time;
  const bool is_event_due = next <= now_;
  for (const auto& host : hosts_) {
    const TimePoint its_next = host->next_step();
    if (its_next <= now_) candidates_.push_back(host.get());
    next = std::min(next, its_next);
  }
  const std::size_t count = candidates_.size() + (is_event_due ? 1 : 0);
  if (count == 0) {
    if (next > until) return false;
    now_ = next;
    return true;
  }
  ++step_count_;
  const std::size_t choice = count == 1 ? 0 : order_.below(count);
  if (choice < candidates_.size()) {
    step_host(*candidates_[choice]);
  } else {
    fire_next();
  }
  if (on_step_ != nullptr) on_step_();
  return true;
}

void Simulation::run_until(TimePoint time) {
  while (now_ < time && step_one(time)) {
  }
  now_ = std::max(now_, time);
}

bool Simulation::run_until(const std::function<bool()>& is_done, TimePoint time) {
  while (!is_done()) {
    if (now_ >= time || !step_one(time)) {
      now_ = std::max(now_, time);
      return is_done();
    }
  }
  return true;
}

}  // namespace corolane::sim
