// SPDX-License-Identifier: MIT
// The phases of a run, and its outcome.
#include "framework/testing/simulated_run.h"

#include <ctime>

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

// One in this many seeds runs ready tasks in the order in which they became ready: some guarantees
// hold only in that order.
constexpr std::uint64_t in_order_one_in = 4;
// The whole cluster serves by then.
constexpr Duration opening = 2s;
// The parts of a run after which the faults end and the clients are to return.
constexpr double faults_part = 0.7;
constexpr double clients_part = 0.8;
// The limit of I6, with time for calls in flight to a node that was cut off.
constexpr Duration answer_time_max = 10s;

Duration processor_time() {
  timespec time{};
  static_cast<void>(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::string kind_of(const std::string& violation) {
  const std::size_t place = violation.find('I');
  if (place != std::string::npos && place + 1 < violation.size() && violation[place + 1] >= '1' &&
      violation[place + 1] <= '8') {
    return violation.substr(place, 2);
  }
  return violation.substr(0, violation.find(':'));
}

SimulatedCluster::Options SimulatedRun::options(SimulatedCluster::Options options) {
  options.seed = plan_.seed;
  options.nodes = plan_.node_count;
  options.shuffles = plan_.shuffles && plan_.seed % in_order_one_in != 0;
  options.reader = reader_;
  options.on_end = [this](SimulatedCluster& cluster) { take(cluster); };
  return options;
}

void SimulatedRun::play(SimulatedCluster& cluster) {
  open(cluster);
  static_cast<void>(close(cluster));
}

void SimulatedRun::open(SimulatedCluster& cluster) {
  run_for(cluster, opening);
  std::vector<Fault> faults = plan_.faults;
  faults.insert(faults.end(), own_faults_.begin(), own_faults_.end());
  nemesis_.emplace(cluster, std::move(faults));
  nemesis_->run_until(cluster.simulation().now() + until_part(cluster, faults_part));
}

bool SimulatedRun::close(SimulatedCluster& cluster) {
  run_for(cluster, until_part(cluster, clients_part));
  is_ending_ = true;
  const auto is_done = [&] { return cluster.are_clients_done() || has_failed_(); };
  if (!cluster.run_until(is_done, answer_time_max) && cluster.violations().empty()) {
    cluster.violated("I6 a client has not returned long after the last fault");
  }
  return cluster.violations().empty() && !has_failed_();
}

Duration SimulatedRun::until_part(const SimulatedCluster& cluster, double part) const {
  const Duration length = plan_.length;
  return std::chrono::duration_cast<Duration>(length * part) - cluster.simulation().elapsed();
}

void SimulatedRun::run_for(SimulatedCluster& cluster, Duration duration) {
  static_cast<void>(cluster.run_until(has_failed_, duration));
}

void SimulatedRun::take(SimulatedCluster& cluster) {
  const auto& found = cluster.violations();
  result_.violations.insert(result_.violations.end(), found.begin(), found.end());
  result_.hash = cluster.hash();
  result_.simulated += cluster.simulation().elapsed();
  if (nemesis_) count("faults", nemesis_->count());
  count("calls answered", cluster.checker().statistics().call_count);
  count("writes", cluster.checker().statistics().write_count);
  for (const auto& [mark, happened] : cluster.marks()) result_.marks[mark] |= happened;
  const SectionCrashes& sections = cluster.sections();
  for (const SectionMoment& moment : sections.usual_moments()) {
    result_.moments[to_text(moment)] += sections.moments().at(moment).crashes;
  }
}

RunResult run_once(const Scenario& scenario, const RunPlan& plan, Trace::Reader reader) {
  const Duration start = processor_time();
  SimulatedRun run(plan, std::move(reader));
  scenario(run);
  run.result().took = processor_time() - start;
  return run.result();
}

}  // namespace corolane::sim
