// Opens the market, starts the faults, closes the market and calls every object.
#include "tools/simulation/run.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "framework/testing/cluster.h"
#include "framework/testing/nemesis.h"
#include "tools/simulation/market.h"

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

// One in this many seeds runs ready tasks in the order in which they became ready, as a node does.
constexpr std::uint64_t in_order_one_in = 4;
// The whole cluster serves by then.
constexpr Duration opening = 2s;
// The parts of a run's length after which the faults end and the market closes.
constexpr double faults_part = 0.7;
constexpr double market_part = 0.8;
// The limit of I6, with time for calls in flight to a node that was cut off.
constexpr Duration answer_time_max = 10s;

// Splits the clients so that trades are about three times as frequent as chess moves.
Market::Options market_options(std::size_t client_count) {
  const std::size_t player_count = client_count / 4 * 2;
  return {.player_count = player_count,
          .trader_count = client_count - player_count,
          .account_count = std::max<std::size_t>(2, client_count * 2 / 5),
          .donor_count = client_count * 4};
}

Duration processor_time() {
  timespec time{};
  static_cast<void>(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Returns "I3" for "I3 table 1: ...", and the whole name for other invariants.
std::string invariant_of(const std::string& violation) {
  const std::size_t place = violation.find('I');
  if (place != std::string::npos && place + 1 < violation.size() && violation[place + 1] >= '1' &&
      violation[place + 1] <= '8') {
    return violation.substr(place, 2);
  }
  return violation.substr(0, violation.find(':'));
}

}  // namespace

RunResult run(const RunPlan& plan, Trace::Reader reader) {
  const Duration start = processor_time();
  RunResult result;
  {
    SimulatedCluster cluster({.seed = plan.seed,
                              .nodes = plan.node_count,
                              .shuffles = plan.shuffles && plan.seed % in_order_one_in != 0,
                              .bugs = plan.bugs},
                             Market::set_up);
    if (reader != nullptr) cluster.simulation().trace().set_reader(std::move(reader));
    Market market(cluster, market_options(plan.client_count));
    Nemesis nemesis(cluster, plan.faults);
    const Duration length = plan.length;
    const auto part = [&](double share) {
      return std::chrono::duration_cast<Duration>(length * share) - cluster.simulation().elapsed();
    };
    cluster.run_for(opening);
    market.open();
    nemesis.run_until(cluster.simulation().now() + part(faults_part));
    cluster.run_for(part(market_part));
    market.close();
    const bool is_done =
        cluster.run_until([&] { return cluster.are_clients_done(); }, answer_time_max);
    if (!is_done && cluster.violations().empty()) {
      cluster.violated("I6 a call is still unanswered long after the last fault");
    }
    if (cluster.violations().empty()) market.settle(answer_time_max);
    if (cluster.violations().empty()) cluster.run_for(part(1));
    result.violations = cluster.violations();
    result.hash = cluster.hash();
    result.simulated = cluster.simulation().elapsed();
    result.step_count = cluster.simulation().step_count();
    result.fault_count = nemesis.count();
    result.call_count = cluster.checker().statistics().call_count;
    result.write_count = cluster.checker().statistics().write_count;
    result.game_count = market.game_count();
    result.marks = cluster.marks();
  }
  result.took = processor_time() - start;
  return result;
}

RunPlan shrink(const RunPlan& plan, const std::string& violation,
               const std::function<void(const RunPlan& tried, bool fails)>& on_step) {
  const std::string invariant = invariant_of(violation);
  RunPlan smallest = plan;
  const auto try_plan = [&](const RunPlan& smaller) {
    const RunResult result = run(smaller);
    const bool fails =
        !result.violations.empty() && invariant_of(result.violations.front()) == invariant;
    on_step(smaller, fails);
    if (fails) smallest = smaller;
    return fails;
  };
  for (std::size_t i = 0; i < smallest.faults.size();) {
    RunPlan without = smallest;
    without.faults.erase(without.faults.begin() + static_cast<std::ptrdiff_t>(i));
    if (!try_plan(without)) ++i;
  }
  while (smallest.node_count > 1) {
    RunPlan fewer = smallest;
    --fewer.node_count;
    if (!try_plan(fewer)) break;
  }
  for (const int divisor : {2, 4}) {
    while (smallest.client_count > 4) {
      RunPlan fewer = smallest;
      fewer.client_count -= std::max<std::size_t>(1, fewer.client_count / divisor);
      if (!try_plan(fewer)) break;
    }
    while (smallest.length > 8s) {
      RunPlan shorter = smallest;
      shorter.length -= shorter.length / divisor;
      if (!try_plan(shorter)) break;
    }
  }
  return smallest;
}

}  // namespace corolane::sim
