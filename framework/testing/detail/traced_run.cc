// SPDX-License-Identifier: MIT
#include "framework/testing/detail/traced_run.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "framework/testing/detail/other_addresses.h"
#include "framework/testing/simulated_run.h"
#include "framework/testing/trace_files.h"

namespace corolane::sim {
namespace {

std::string line_of(const Trace::Event& event, Duration at) {
  return std::to_string(at.count()) + " " + std::string(event.host) + " " +
         std::string(event.what) + " " + event.detail + " " + std::to_string(event.hash);
}

// Calls `visit` with each event of a run, and the time since its first one.
RunResult run_with_times(const Scenario& scenario, const RunPlan& plan,
                         const std::function<void(const Trace::Event&, Duration)>& visit) {
  std::optional<TimePoint> begin;
  return run_once(scenario, plan, [&](const Trace::Event& event) {
    if (!begin) begin = event.at;
    visit(event, event.at - *begin);
  });
}

// Makes the run once more, and prints the first difference.
bool is_same_again(const Scenario& scenario, const RunPlan& plan,
                   const std::vector<std::size_t>& events) {
  std::size_t count = 0;
  std::string difference;
  const OtherAddresses elsewhere;
  static_cast<void>(run_with_times(scenario, plan, [&](const Trace::Event& event, Duration at) {
    const std::string line = line_of(event, at);
    const bool is_same = count < events.size() && events[count] == std::hash<std::string>()(line);
    ++count;
    if (!is_same && difference.empty()) {
      difference = "event " + std::to_string(count) + ", " + line;
    }
  }));
  if (difference.empty() && count == events.size()) return true;
  std::printf("its second run differs, first at %s\n",
              difference.empty() ? "its end" : difference.c_str());
  return false;
}

}  // namespace

bool run_traced(const Scenario& scenario, const RunPlan& plan, const std::string& path) {
  TraceFiles files(path);
  if (!files.is_open()) {
    std::printf("cannot write %s: %s\n", path.c_str(), std::strerror(errno));
    return false;
  }
  // Printed first, since the run may crash.
  std::printf("the events of seed %llu are in %s, and for https://ui.perfetto.dev in %s.json\n",
              static_cast<unsigned long long>(plan.seed), path.c_str(), path.c_str());
  std::fflush(stdout);
  std::vector<std::size_t> events;
  const RunResult result =
      run_with_times(scenario, plan, [&](const Trace::Event& event, Duration at) {
        files.add(event, at);
        events.push_back(std::hash<std::string>()(line_of(event, at)));
      });
  std::printf("hash %016llx, %.1f simulated seconds\n",
              static_cast<unsigned long long>(result.hash),
              std::chrono::duration<double>(result.simulated).count());
  for (const std::string& violation : result.violations) std::printf("%s\n", violation.c_str());
  const bool is_same = is_same_again(scenario, plan, events);
  return result.violations.empty() && is_same;
}

}  // namespace corolane::sim
