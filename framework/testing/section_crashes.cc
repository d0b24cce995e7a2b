// SPDX-License-Identifier: MIT
#include "framework/testing/section_crashes.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "coroutine/task.h"
#include "framework/testing/cluster.h"
#include "framework/testing/host.h"

namespace corolane::sim {
namespace {

// A moment is rare when fewer than one in this many executions of its section reach it.
constexpr std::uint64_t rare_one_in = 20;

}  // namespace

std::string to_text(const SectionMoment& moment) {
  if (moment.step == 0) return moment.section + ", at its beginning";
  return moment.section + (moment.has_ended ? ", after step " : ", during step ") +
         std::to_string(moment.step);
}

SectionCrashes::SectionCrashes(SimulatedCluster& cluster)
    : cluster_(cluster), previous_(coroutine::MarkedSection::set_observer(this)) {}

SectionCrashes::~SectionCrashes() { coroutine::MarkedSection::set_observer(previous_); }

void SectionCrashes::arm(SectionMoment moment, OnCrash on_crash) {
  armed_ = std::move(moment);
  on_crash_ = std::move(on_crash);
}

void SectionCrashes::arm_any(test::Random& dice, OnCrash on_crash) {
  armed_.reset();
  on_crash_ = std::move(on_crash);
  std::vector<SectionMoment> candidates = usual_moments();
  if (candidates.empty()) return;
  const auto crashes = [this](const SectionMoment& moment) { return moments_.at(moment).crashes; };
  const std::uint64_t fewest = crashes(*std::ranges::min_element(candidates, {}, crashes));
  std::erase_if(candidates, [&](const SectionMoment& moment) { return crashes(moment) > fewest; });
  armed_ = candidates[dice.below(candidates.size())];
}

std::vector<SectionMoment> SectionCrashes::usual_moments() const {
  std::map<std::string, std::uint64_t> begun;  // By section.
  for (const auto& [moment, visits] : moments_) {
    if (moment.step == 0) begun[moment.section] = visits.count;
  }
  std::vector<SectionMoment> usual;
  for (const auto& [moment, visits] : moments_) {
    if (visits.count * rare_one_in >= begun[moment.section]) usual.push_back(moment);
  }
  return usual;
}

std::optional<SectionCrashes::Life> SectionCrashes::running() const {
  for (std::size_t i = 0; i < cluster_.node_count(); ++i) {
    const Host& host = cluster_.node_host(i);
    if (host.is_running() && host.is_alive()) return Life{.node = i, .number = host.life()};
  }
  return std::nullopt;
}

void SectionCrashes::on_step_ended(const coroutine::MarkedSection& section, std::uint32_t steps) {
  const auto life = running();
  if (!life) return;
  if (dying_ != life) {
    reach({.section = std::string(section.name()), .step = steps, .has_ended = true}, *life);
  }
  // The code behind the step must not run any more. The crash cancels the task.
  if (dying_ == life) static_cast<void>(coroutine::sleep_for(std::chrono::hours(1)));
}

void SectionCrashes::on_step_suspends(const coroutine::MarkedSection& section, std::uint32_t step) {
  const auto life = running();
  if (!life || dying_ == life) return;
  reach({.section = std::string(section.name()), .step = step, .has_ended = false}, *life);
}

void SectionCrashes::reach(SectionMoment moment, const Life& life) {
  ++moments_[moment].count;
  if (on_crash_ == nullptr || dying_ || (armed_ && *armed_ != moment)) return;
  dying_ = life;
  // The bytes of this step are sent after it, and the node crashes after they are sent.
  Host& host = cluster_.node_host(life.node);
  host.after_step([this, &host, moment = std::move(moment), life] {
    host.after_step([this, moment, life] { crash(moment, life); });
  });
}

void SectionCrashes::crash(const SectionMoment& moment, const Life& life) {
  dying_.reset();
  ++moments_[moment].crashes;
  Simulation& simulation = cluster_.simulation();
  simulation.trace().add(simulation.now(), cluster_.node_host(life.node).name(), "crashes",
                         [&] { return "in the section " + to_text(moment); });
  cluster_.crash(life.node);
  if (const OnCrash on_crash = std::exchange(on_crash_, nullptr)) on_crash(life.node);
}

}  // namespace corolane::sim
