// The program behind tools/simulate: runs a simulated cluster once for each of many seeds.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tools/arguments.h"
#include "framework/testing/detail/other_addresses.h"
#include "tools/simulation/run.h"
#include "framework/testing/trace_files.h"
#include "framework/testing/detail/seed_processes.h"

namespace corolane::sim {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_wrong_usage = 2;

// The number of runs that should reach every mark; fewer runs prove nothing.
constexpr std::size_t runs_for_marks = 50;
constexpr Duration progress_interval = std::chrono::seconds(5);

constexpr const char* help = R"(usage: tools/simulate [options]
Runs a cluster of nodes, its clients, network, directory and store in one thread and simulated time,
once for each seed: clients play chess and trade, faults strike, and the invariants of ownership
are checked all the time. Stops at the first seed that fails, shrinks its run, and prints the
command that replays it.

  --seeds A..B       the seeds to run (default 1..200); --seeds 7 runs a single one
  --seconds N        simulated seconds of each run (default 60)
  --nodes N          number of nodes (default 5)
  --clients N        number of clients (default 50)
  --faults A,B,...   folders of faults, or single faults (default framework/testing/faults/network,
                     framework/testing/faults/machines); "none" for none
  --jobs N           processes that share the work (default: one for each core)
  --in-order         run ready tasks in the order in which they became ready
  --bug NAME         plant this bug on purpose; --bug list prints their names
  --bugs             plant each bug in turn, and print how many seeds it took to catch it
  --keep-going       run all seeds, and do not shrink the failing ones
  --trace FILE       write every event of a single seed to FILE as text, and for
                     https://ui.perfetto.dev to FILE.json
  --help             print this text
)";

struct Choice {
  const char* name;
  bool framework::SeededBugs::* member;
};

constexpr Choice bugs[] = {
    {"no_seal", &framework::SeededBugs::no_seal},
    {"load_before_seal", &framework::SeededBugs::load_before_seal},
    {"fence_from_cached_time", &framework::SeededBugs::fence_from_cached_time},
    {"reply_before_write", &framework::SeededBugs::reply_before_write},
    {"request_ids_outside_state", &framework::SeededBugs::request_ids_outside_state},
    {"request_ids_evicted", &framework::SeededBugs::request_ids_evicted},
    {"retry_on_unknown", &framework::SeededBugs::retry_on_unknown},
    {"cache_without_epoch", &framework::SeededBugs::cache_without_epoch},
    {"reply_after_fence", &framework::SeededBugs::reply_after_fence},
    {"watch_trusted", &framework::SeededBugs::watch_trusted},
    {"hand_over_without_compare", &framework::SeededBugs::hand_over_without_compare},
    {"version_check_off", &framework::SeededBugs::version_check_off},
    {"keepalive_time_at_answer", &framework::SeededBugs::keepalive_time_at_answer},
};

struct Settings {
  RunPlan plan;
  Seeds seeds;
  std::size_t job_count = 1;
  bool keeps_going = false;
  std::string trace;
  std::string bug;
};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string replay_command(const Settings& settings, const RunPlan& plan) {
  std::string faults;
  for (const Fault& fault : plan.faults) {
    faults += (faults.empty() ? "" : ",") + fault.name;
  }
  return "tools/simulate --seeds " + std::to_string(plan.seed) + " --seconds " +
         std::to_string(plan.length.count()) + " --nodes " + std::to_string(plan.node_count) +
         " --clients " + std::to_string(plan.client_count) + " --faults " +
         (faults.empty() ? "none" : faults) + (plan.shuffles ? "" : " --in-order") +
         (settings.bug.empty() ? "" : " --bug " + settings.bug) + " --trace trace.txt";
}

// Shrinks the run, too.
void explain(const Settings& settings, const Outcome& failed) {
  std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(failed.seed),
              failed.violation.c_str());
  RunPlan plan = settings.plan;
  plan.seed = failed.seed;
  // Shrinking needs a failure of a single run, in a process that survives it.
  if (failed.simulated == Duration::zero() || failed.differs) {
    std::printf("replay it with\n  %s\n", replay_command(settings, plan).c_str());
    return;
  }
  std::printf("%s, as given, with\n  %s\n", "replay it", replay_command(settings, plan).c_str());
  std::fflush(stdout);
  const RunPlan smaller = shrink(plan, failed.violation, [](const RunPlan& tried, bool fails) {
    std::fprintf(stderr, "  %zu faults, %zu nodes, %zu clients, %lld s: %s\n", tried.faults.size(),
                 tried.node_count, tried.client_count, static_cast<long long>(tried.length.count()),
                 fails ? "fails as well" : "passes");
  });
  std::printf("smaller:\n  %s\n", replay_command(settings, smaller).c_str());
}

int run_many(const Settings& settings) {
  const auto begin = Clock::now();
  const std::uint64_t wanted = settings.seeds.count();
  Workers workers(settings.plan, settings.seeds, settings.job_count);
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t twice = 0;
  Outcome sum;
  std::map<std::string, std::uint64_t> marks;
  auto told_at = begin;
  std::optional<Outcome> first_failure;
  while (auto outcome = workers.next()) {
    ++done;
    sum.simulated += outcome->simulated;
    sum.took += outcome->took;
    sum.faults += outcome->faults;
    sum.calls += outcome->calls;
    sum.writes += outcome->writes;
    sum.games += outcome->games;
    twice += outcome->ran_twice ? 1 : 0;
    for (const auto& [mark, happened] : outcome->marks) marks[mark] += happened ? 1 : 0;
    if (outcome->differs && outcome->violation.empty()) {
      outcome->violation = "its second run differs";
    }
    if (!outcome->violation.empty()) {
      ++failed;
      if (settings.keeps_going) {
        std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(outcome->seed),
                    outcome->violation.c_str());
      }
      if (!first_failure || outcome->seed < first_failure->seed) first_failure = outcome;
      if (!settings.keeps_going) break;
    }
    if (Clock::now() - told_at >= progress_interval) {
      told_at = Clock::now();
      std::fprintf(stderr, "  %llu of %llu seeds, %llu failed, %.0f x real time on each core\n",
                   static_cast<unsigned long long>(done), static_cast<unsigned long long>(wanted),
                   static_cast<unsigned long long>(failed),
                   seconds(sum.simulated) / seconds(sum.took));
    }
  }
  workers.stop();
  if (first_failure && !settings.keeps_going) {
    explain(settings, *first_failure);
    return exit_failed;
  }
  std::printf("%llu seeds, %llu failed; %llu run twice, the same each time\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(failed),
              static_cast<unsigned long long>(twice));
  std::printf(
      "%llu faults, %llu calls answered, %llu writes, %llu games\n",
      static_cast<unsigned long long>(sum.faults), static_cast<unsigned long long>(sum.calls),
      static_cast<unsigned long long>(sum.writes), static_cast<unsigned long long>(sum.games));
  std::printf("%.0f simulated seconds in %.1f s, %.0f x real time on each core\n",
              seconds(sum.simulated), seconds(Clock::now() - begin),
              seconds(sum.simulated) / seconds(sum.took));
  bool is_mark_missed = false;
  for (const auto& [mark, count] : marks) {
    if (count > 0 || done < runs_for_marks) continue;
    std::printf("never reached: %s\n", mark.c_str());
    is_mark_missed = true;
  }
  if (done != wanted)
    std::printf("some of %llu seeds gave no result\n", static_cast<unsigned long long>(wanted));
  if (!is_mark_missed && done >= runs_for_marks) {
    std::printf("each of %zu rare states was reached\n", marks.size());
  }
  return failed == 0 && !is_mark_missed && done == wanted ? exit_ok : exit_failed;
}

// Returns the first seed that fails, and its violation. The lowest of concurrent seeds counts.
std::optional<Outcome> first_failure_of(const Settings& settings) {
  std::optional<Outcome> first;
  std::set<std::uint64_t> done;
  Workers workers(settings.plan, settings.seeds, settings.job_count);
  while (auto outcome = workers.next()) {
    done.insert(outcome->seed);
    const bool fails = !outcome->violation.empty();
    if (fails && (!first || outcome->seed < first->seed)) first = outcome;
    if (!first) continue;
    bool is_first = true;
    for (std::uint64_t seed = settings.seeds.first; seed < first->seed && is_first; ++seed) {
      is_first = done.contains(seed);
    }
    if (is_first) break;
  }
  return first;
}

int run_bugs(Settings settings) {
  std::printf("%-26s %6s  %s\n", "bug", "seeds", "caught by");
  std::size_t caught_count = 0;
  for (const Choice& bug : bugs) {
    settings.plan.bugs = {};
    settings.plan.bugs.*bug.member = true;
    const auto failure = first_failure_of(settings);
    caught_count += failure ? 1 : 0;
    std::printf("%-26s %6s  %s\n", bug.name,
                failure ? std::to_string(failure->seed - settings.seeds.first + 1).c_str() : "-",
                failure ? failure->violation.c_str() : "nothing");
    std::fflush(stdout);
  }
  std::printf("%zu of %zu bugs caught within %llu seeds each\n", caught_count, std::size(bugs),
              static_cast<unsigned long long>(settings.seeds.count()));
  return caught_count == std::size(bugs) ? exit_ok : exit_failed;
}

std::string line_of(const Trace::Event& event, Duration at) {
  return std::to_string(at.count()) + " " + std::string(event.host) + " " +
         std::string(event.what) + " " + event.detail + " " + std::to_string(event.hash);
}

// Runs the plan once more, and prints the first difference.
bool is_same_again(const RunPlan& plan, const std::vector<std::size_t>& events) {
  std::size_t count = 0;
  std::optional<TimePoint> begin;
  std::string difference;
  const OtherAddresses elsewhere;
  static_cast<void>(run(plan, [&](const Trace::Event& event) {
    if (!begin) begin = event.at;
    const std::string line = line_of(event, event.at - *begin);
    const bool is_same = count < events.size() && events[count] == std::hash<std::string>()(line);
    ++count;
    if (!is_same && difference.empty()) {
      difference = "event " + std::to_string(count) + ", " + line;
    }
  }));
  if (difference.empty() && count == events.size()) return true;
  std::printf("its second run differs, first at %s\n", difference.c_str());
  return false;
}

int run_traced(const Settings& settings) {
  TraceFiles files(settings.trace);
  if (!files.is_open()) {
    std::fprintf(stderr, "simulate: cannot write %s: %s\n", settings.trace.c_str(),
                 std::strerror(errno));
    return exit_failed;
  }
  RunPlan plan = settings.plan;
  plan.seed = settings.seeds.first;
  std::optional<TimePoint> begin;
  std::vector<std::size_t> events;
  const RunResult result = run(plan, [&](const Trace::Event& event) {
    if (!begin) begin = event.at;
    files.add(event, event.at - *begin);
    events.push_back(std::hash<std::string>()(line_of(event, event.at - *begin)));
  });
  std::printf("seed %llu, hash %016llx, %.1f simulated seconds; its events are in %s and %s.json\n",
              static_cast<unsigned long long>(plan.seed),
              static_cast<unsigned long long>(result.hash), seconds(result.simulated),
              settings.trace.c_str(), settings.trace.c_str());
  for (const std::string& violation : result.violations) std::printf("%s\n", violation.c_str());
  const bool is_same = is_same_again(plan, events);
  return result.violations.empty() && is_same ? exit_ok : exit_failed;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Error wrong(std::string_view option, std::string_view value, std::string_view expected) {
  return Error(Code::invalid_argument, std::string(option) + " must be " + std::string(expected) +
                                           ", not \"" + std::string(value) + "\"");
}

// `name` is a folder, a file, or a fault in one of our folders.
Result<std::vector<Fault>> faults_of(const std::string& name) {
  for (const char* const folder :
       {"framework/testing/faults/network/", "framework/testing/faults/machines/"}) {
    if (auto found = read_fault(folder + name + ".yaml")) return std::vector<Fault>{*found};
  }
  if (name.ends_with(".yaml")) {
    auto fault = read_fault(name);
    if (!fault) return fault.error();
    return std::vector<Fault>{*fault};
  }
  return read_faults(name);
}

Result<Settings> settings_of(const tools::Arguments& arguments) {
  Settings settings;
  settings.job_count = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  settings.keeps_going = arguments.has("--keep-going");
  settings.plan.shuffles = !arguments.has("--in-order");
  if (!arguments.words.empty()) {
    return Error(Code::invalid_argument, "\"" + arguments.words.front() + "\" is not an option");
  }
  std::string faults = "framework/testing/faults/network,framework/testing/faults/machines";
  for (const auto& [option, value] : arguments.options) {
    if (option == "--trace") settings.trace = value;
    if (option == "--faults") faults = value;
    if (option == "--bug") {
      const auto* const bug =
          std::ranges::find(bugs, value, [](const Choice& choice) { return choice.name; });
      if (bug == std::end(bugs)) return wrong(option, value, "a name from --bug list");
      settings.plan.bugs.*bug->member = true;
      settings.bug = value;
    }
    if (option == "--seeds") {
      const std::size_t dots = value.find("..");
      const auto first = number_of(value.substr(0, dots));
      const auto last =
          dots == std::string::npos ? first : number_of(std::string_view(value).substr(dots + 2));
      if (!first || !last || *last < *first) return wrong(option, value, "of the form 1..200 or 7");
      settings.seeds.first = *first;
      settings.seeds.last = *last;
    }
    for (const char* const name : {"--seconds", "--nodes", "--clients", "--jobs"}) {
      if (option != name) continue;
      const auto number = number_of(value);
      const std::uint64_t least = option == "--seconds" ? 8 : option == "--clients" ? 4 : 1;
      const std::uint64_t most = option == "--jobs" ? 256 : 10'000;
      if (!number || *number < least || *number > most) {
        return wrong(option, value,
                     "a number from " + std::to_string(least) + " to " + std::to_string(most));
      }
      if (option == "--seconds") settings.plan.length = std::chrono::seconds(*number);
      if (option == "--nodes") settings.plan.node_count = *number;
      if (option == "--clients") settings.plan.client_count = *number;
      if (option == "--jobs") settings.job_count = *number;
    }
  }
  if (!settings.trace.empty() && settings.seeds.first != settings.seeds.last) {
    return Error(Code::invalid_argument, "--trace is for one seed, such as --seeds 7");
  }
  while (faults != "none" && !faults.empty()) {
    const std::size_t comma = faults.find(',');
    auto found = faults_of(faults.substr(0, comma));
    if (!found) return std::move(found.error()).with_context("--faults");
    std::ranges::copy(*found, std::back_inserter(settings.plan.faults));
    faults.erase(0, comma == std::string::npos ? comma : comma + 1);
  }
  return settings;
}

int main(std::span<const char* const> words) {
  constexpr tools::OptionRule rules[] = {
      {.name = "--seeds", .has_value = true},
      {.name = "--seconds", .has_value = true},
      {.name = "--nodes", .has_value = true},
      {.name = "--clients", .has_value = true},
      {.name = "--faults", .has_value = true},
      {.name = "--jobs", .has_value = true},
      {.name = "--bug", .has_value = true},
      {.name = "--trace", .has_value = true},
      {.name = "--bugs"},
      {.name = "--in-order"},
      {.name = "--keep-going"},
      {.name = "--help"},
  };
  const auto arguments = tools::parse_arguments(words, rules);
  if (arguments && arguments->has("--help")) {
    std::fputs(help, stdout);
    return exit_ok;
  }
  if (arguments && arguments->has("--bug") && arguments->options.at("--bug") == "list") {
    for (const Choice& bug : bugs) std::puts(bug.name);
    return exit_ok;
  }
  const auto settings = arguments ? settings_of(*arguments) : Result<Settings>(arguments.error());
  if (!settings) {
    std::fprintf(stderr, "simulate: %s; see tools/simulate --help\n",
                 settings.error().message().c_str());
    return exit_wrong_usage;
  }
  if (arguments->has("--bugs")) return run_bugs(*settings);
  return settings->trace.empty() ? run_many(*settings) : run_traced(*settings);
}

}  // namespace
}  // namespace corolane::sim

int main(int argc, char** argv) {
  return corolane::sim::main({argv + 1, static_cast<std::size_t>(argc - 1)});
}
