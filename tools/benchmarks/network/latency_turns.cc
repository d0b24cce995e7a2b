// SPDX-License-Identifier: MIT
// Two servers, one of which has no disturbers, get the same calls in turns of a fraction of a
// second, so that a change of the machine's pace affects both. The result is the lower quartile
// over the turns: a virtual machine loses its core for some milliseconds in many of them, which
// says nothing of the server, and clients that harm others harm them in all turns.
#include "tools/benchmarks/network/latency_turns.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

// All turns together stay below 15 s, after which a server gives up clients that read nothing.
constexpr int turn_count = 28;
constexpr int turns_per_effort = 5;
// Before each turn comes a tenth of it that is not measured: what the server has sent on its own
// during the turns of the other one arrives then. And what the servers do at regular intervals
// falls into another place of each turn.
constexpr int lead_ins_per_turn = 10;

struct Latencies {
  std::vector<double> p50s_us;
  std::vector<double> p99s_us;
  std::uint64_t good_count = 0;
};

double lower_quartile_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 4];
}

Result<void> take_turn(OpenLoop& clients, double calls_per_second, Latencies& latencies) {
  constexpr int lead_ins_per_effort = turns_per_effort * lead_ins_per_turn;
  const auto led_in = clients.run(calls_per_second, effort() / lead_ins_per_effort);
  if (!led_in) return led_in.error();
  auto outcome = clients.run(calls_per_second, effort() / turns_per_effort);
  if (!outcome) return outcome.error();
  for (std::uint64_t count = outcome->answered_count(); count < outcome->sent_count; ++count) {
    outcome->latency_ns.record(std::chrono::nanoseconds(latency_patience).count());
  }
  latencies.p50s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.5)) / 1e3);
  latencies.p99s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.99)) / 1e3);
  latencies.good_count += outcome->good_count;
  return {};
}

}  // namespace

Result<Measurement> relative_latency(OpenLoop& undisturbed, OpenLoop& disturbed,
                                     double calls_per_second) {
  Latencies without;
  Latencies with;
  for (int turn = 0; turn < turn_count; ++turn) {
    if (auto taken = take_turn(undisturbed, calls_per_second, without); !taken) {
      return taken.error();
    }
    if (auto taken = take_turn(disturbed, calls_per_second, with); !taken) return taken.error();
  }
  const double p99_us = lower_quartile_of(with.p99s_us);
  const double seconds =
      std::chrono::duration<double>(effort() * turn_count / turns_per_effort).count();
  return Measurement{
      .value = 100 * p99_us / lower_quartile_of(without.p99s_us),
      .traffic = Traffic{.ops_per_second = static_cast<double>(with.good_count) / seconds,
                         .p50_us = median_of(with.p50s_us),
                         .p99_us = p99_us}};
}

}  // namespace corolane::bench
