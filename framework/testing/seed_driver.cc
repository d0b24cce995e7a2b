// SPDX-License-Identifier: MIT
// Hands out the seeds, sums the outcomes, and explains the first failure.
#include "framework/testing/seed_driver.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "framework/testing/detail/outcome.h"
#include "framework/testing/detail/seed_processes.h"
#include "framework/testing/detail/shrink.h"
#include "framework/testing/detail/traced_run.h"

namespace corolane::sim {
namespace {

using Clock = std::chrono::steady_clock;

// The number of runs that should reach every mark; fewer runs prove nothing.
constexpr std::uint64_t runs_for_marks = 50;
constexpr Duration progress_interval = std::chrono::seconds(5);

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

unsigned long long printed(std::uint64_t number) { return number; }

// The outcomes of the seeds, in the order in which their runs end. Once a run has failed, only
// earlier seeds are still of interest, unless the driver keeps going.
class Outcomes {
 public:
  Outcomes(const Scenario& scenario, const RunPlan& plan, const DriveOptions& options)
      : scenario_(scenario),
        plan_(plan),
        options_(options),
        next_seed_(options.seeds.first),
        processes_(options.job_count != 0
                       ? options.job_count
                       : static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))),
                   options.run_time_max) {}

  std::optional<SeedOutcome> next() {
    while (!has_failed_ && next_seed_ <= options_.seeds.last && processes_.has_room()) {
      RunPlan plan = plan_;
      plan.seed = next_seed_++;
      processes_.start(plan.seed, [&] { return to_text(run_seed(scenario_, plan)); });
    }
    const auto ended = processes_.next();
    if (!ended) return std::nullopt;
    SeedOutcome outcome = ended->death.empty()
                              ? outcome_of(ended->report)
                              : SeedOutcome{.seed = ended->seed, .violation = ended->death};
    if (!outcome.violation.empty() && !options_.keeps_going) {
      // All earlier seeds have started.
      has_failed_ = true;
      processes_.stop_from(outcome.seed);
    }
    return outcome;
  }

 private:
  const Scenario& scenario_;
  const RunPlan& plan_;
  const DriveOptions& options_;
  std::uint64_t next_seed_;
  bool has_failed_ = false;
  SeedProcesses processes_;
};

// The sum of many outcomes.
class Report {
 public:
  void add(const SeedOutcome& outcome) {
    ++done_;
    simulated_ += outcome.simulated;
    took_ += outcome.took;
    twice_ += outcome.ran_twice ? 1 : 0;
    failed_ += outcome.violation.empty() ? 0 : 1;
    for (const auto& [what, count] : outcome.counts) counts_[what] += count;
    for (const auto& [mark, happened] : outcome.marks) marks_[mark] += happened ? 1 : 0;
    for (const auto& [moment, crashes] : outcome.moments) moments_[moment] += crashes;
  }

  void print_progress(std::uint64_t wanted) {
    if (Clock::now() - told_at_ < progress_interval) return;
    told_at_ = Clock::now();
    std::fprintf(stderr, "  %llu of %llu seeds, %llu failed, %.0f x real time on each core\n",
                 printed(done_), printed(wanted), printed(failed_), speed());
  }

  // Returns whether every run was as it should be.
  bool print() const {
    std::printf("%llu seeds, %llu failed; %llu run twice, the same each time\n", printed(done_),
                printed(failed_), printed(twice_));
    std::string figures;
    for (const auto& [what, count] : counts_) {
      figures += (figures.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    }
    if (!figures.empty()) std::printf("%s\n", figures.c_str());
    print_moments();
    std::printf("%.0f simulated seconds in %.1f s, %.0f x real time on each core\n",
                seconds(simulated_), seconds(Clock::now() - begin_), speed());
    return print_missed_marks() && failed_ == 0;
  }

 private:
  double speed() const { return seconds(simulated_) / std::max(seconds(took_), 1e-9); }

  void print_moments() const {
    if (moments_.empty()) return;
    const auto hit = std::ranges::count_if(moments_, [](const auto& m) { return m.second > 0; });
    std::printf("nodes crashed at %zu of the %zu usual moments of marked sections\n",
                static_cast<std::size_t>(hit), moments_.size());
    for (const auto& [moment, crashes] : moments_) {
      if (crashes == 0) std::printf("  never: %s\n", moment.c_str());
    }
  }

  bool print_missed_marks() const {
    bool has_all = true;
    for (const auto& [mark, count] : marks_) {
      if (count > 0 || done_ < runs_for_marks) continue;
      has_all = false;
      std::printf("never happened: %s\n", mark.c_str());
    }
    return has_all;
  }

  const Clock::time_point begin_ = Clock::now();
  Clock::time_point told_at_ = begin_;
  std::uint64_t done_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t twice_ = 0;
  Duration simulated_{};
  Duration took_{};
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::string, std::uint64_t> marks_;
  std::map<std::string, std::uint64_t> moments_;
};

RunPlan plan_of(RunPlan plan, const DriveOptions& options) {
  if (options.length) plan.length = *options.length;
  if (options.node_count) plan.node_count = *options.node_count;
  if (options.client_count) plan.client_count = *options.client_count;
  if (options.faults) plan.faults = *options.faults;
  if (options.is_in_order) plan.shuffles = false;
  plan.seed = options.seeds.first;
  return plan;
}

// How a single run fails in a process of its own; empty when it does not.
std::string violation_of(const Scenario& scenario, const RunPlan& plan,
                         const DriveOptions& options) {
  SeedProcesses processes(1, options.run_time_max);
  processes.start(plan.seed, [&] { return to_text(run_seed(scenario, plan)); }, /*is_quiet=*/true);
  const auto ended = processes.next();
  return ended->death.empty() ? outcome_of(ended->report).violation : ended->death;
}

RunPlan shrink_with_progress(const Scenario& scenario, const RunPlan& plan,
                             const std::string& violation, const DriveOptions& options) {
  const std::string kind = kind_of(violation);
  return shrink(plan, [&](const RunPlan& tried) {
    const bool fails = kind_of(violation_of(scenario, tried, options)) == kind;
    std::fprintf(stderr, "  %zu faults, %zu nodes, %zu clients, %lld s: %s\n", tried.faults.size(),
                 tried.node_count, tried.client_count, static_cast<long long>(tried.length.count()),
                 fails ? "fails as well" : "passes");
    return fails;
  });
}

void explain(const Scenario& scenario, const RunPlan& plan, const std::string& violation,
             const DriveOptions& options) {
  std::printf("seed %llu fails: %s\nreplay it, as given, with\n  %s\n", printed(plan.seed),
              violation.c_str(), replay_command(plan, options).c_str());
  std::fflush(stdout);
  const RunPlan smallest = shrink_with_progress(scenario, plan, violation, options);
  const std::string trace =
      options.trace.empty() ? "seed-" + std::to_string(plan.seed) + ".trace" : options.trace;
  // A run that crashes ends its own process only.
  SeedProcesses traced(1, options.run_time_max);
  traced.start(plan.seed, [&] {
    static_cast<void>(run_traced(scenario, smallest, trace));
    return std::string();
  });
  static_cast<void>(traced.next());
  std::printf("the smallest run that fails in this way; replay it with\n  %s\n",
              replay_command(smallest, options).c_str());
}

}  // namespace

std::optional<FailedSeed> first_failure(const Scenario& scenario, const RunPlan& plan,
                                        const DriveOptions& options) {
  const RunPlan whole = plan_of(plan, options);
  Outcomes outcomes(scenario, whole, options);
  std::optional<FailedSeed> first;
  while (const auto outcome = outcomes.next()) {
    if (outcome->violation.empty() || (first && first->seed < outcome->seed)) continue;
    first = {.seed = outcome->seed, .violation = outcome->violation};
  }
  return first;
}

int drive(const Scenario& scenario, const RunPlan& plan, const DriveOptions& options) {
  RunPlan whole = plan_of(plan, options);
  if (!options.trace.empty() && options.seeds.count() == 1) {
    return run_traced(scenario, whole, options.trace) ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  Outcomes outcomes(scenario, whole, options);
  Report report;
  std::optional<FailedSeed> first;
  while (const auto outcome = outcomes.next()) {
    report.add(*outcome);
    report.print_progress(options.seeds.count());
    if (outcome->violation.empty()) continue;
    if (options.keeps_going) {
      std::printf("seed %llu fails: %s\n", printed(outcome->seed), outcome->violation.c_str());
    }
    if (!first || outcome->seed < first->seed) {
      first = {.seed = outcome->seed, .violation = outcome->violation};
    }
  }
  if (first && !options.keeps_going) {
    whole.seed = first->seed;
    explain(scenario, whole, first->violation, options);
    return EXIT_FAILURE;
  }
  return report.print() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace corolane::sim
