// The program behind tools/simulate: many seeds of a simulated cluster, each a run of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/units.h"
#include "test/sim/run.h"
#include "tools/arguments.h"

namespace corolane::sim {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;
constexpr int exit_wrong_usage = 2;

// One of so many seeds is run twice, to see that it is the same both times.
constexpr std::uint64_t twice_one_in = 20;
// Of runs, for marks that are hit in some of them: fewer say nothing.
constexpr std::size_t runs_for_marks = 50;
constexpr Duration progress_interval = std::chrono::seconds(5);

constexpr const char* help = R"(usage: tools/simulate [options]
Runs a cluster of nodes, its clients, network, directory and store in one thread and simulated time,
once for each seed: clients play chess and trade, everything breaks, and the invariants of ownership
are looked at all the time. Stops at the first seed that fails, makes it smaller, and prints the
command that replays it.

  --seeds A..B       these seeds (default 1..200); --seeds 7 is that one
  --seconds N        simulated seconds of each (default 60)
  --nodes N          (default 5)
  --clients N        (default 50)
  --faults A,B,...   folders of faults, or single ones (default test/sim/faults/network,
                     test/sim/faults/machines); "none" for none
  --jobs N           processes that share the work (default: one for each core)
  --in-order         ready tasks run in the order in which they became ready
  --bug NAME         makes this mistake on purpose; --bug list has their names
  --bugs             makes each of them, and shows in a table how many seeds it took to catch it
  --keep-going       runs all seeds, and does not make the failing ones smaller
  --trace FILE       writes every event of a single seed, readable, to FILE, and for
                     https://ui.perfetto.dev to FILE.json
  --help             this text
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
  std::uint64_t first = 1;
  std::uint64_t last = 200;
  std::size_t job_count = 1;
  bool keeps_going = false;
  std::string trace;
  std::vector<std::string> fault_names;  // As given: for the command that replays.
  std::string bug;
};

// What a worker tells of a seed, as a line of JSON.
struct Outcome {
  std::uint64_t seed = 0;
  std::string violation;  // The first one; empty: none.
  bool differs = false;   // From its second run.
  bool ran_twice = false;
  std::uint64_t hash = 0;
  Duration simulated{};
  Duration took{};
  std::uint64_t faults = 0;
  std::uint64_t calls = 0;
  std::uint64_t writes = 0;
  std::uint64_t games = 0;
  std::map<std::string, bool> marks;
};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string to_line(const Outcome& outcome) {
  return json{{"seed", outcome.seed},         {"violation", outcome.violation},
              {"differs", outcome.differs},   {"twice", outcome.ran_twice},
              {"hash", outcome.hash},         {"simulated", outcome.simulated.count()},
              {"took", outcome.took.count()}, {"faults", outcome.faults},
              {"calls", outcome.calls},       {"writes", outcome.writes},
              {"games", outcome.games},       {"marks", outcome.marks}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

Outcome outcome_of(const std::string& line) {
  const json read = json::parse(line);
  return {.seed = read["seed"],
          .violation = read["violation"],
          .differs = read["differs"],
          .ran_twice = read["twice"],
          .hash = read["hash"],
          .simulated = Duration(read["simulated"]),
          .took = Duration(read["took"]),
          .faults = read["faults"],
          .calls = read["calls"],
          .writes = read["writes"],
          .games = read["games"],
          .marks = read["marks"]};
}

// While it lives, what is allocated lies elsewhere than it would: whoever goes by addresses does
// something else then.
class OtherAddresses {
 public:
  OtherAddresses() {
    std::random_device chance;
    for (int i = 0; i < 20'000; ++i) {
      blocks_.push_back(std::make_unique<char[]>(1 + chance() % 2'000));
    }
    // Holes, for some to fall into.
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (chance() % 2 == 0) blocks_[i].reset();
    }
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

Outcome run_seed(RunPlan plan, std::uint64_t seed) {
  plan.seed = seed;
  RunResult result = run(plan);
  Outcome outcome{.seed = seed,
                  .violation = result.violations.empty() ? "" : result.violations.front(),
                  .differs = false,
                  .ran_twice = seed % twice_one_in == 0,
                  .hash = result.hash,
                  .simulated = result.simulated,
                  .took = result.took,
                  .faults = result.fault_count,
                  .calls = result.call_count,
                  .writes = result.write_count,
                  .games = result.game_count,
                  .marks = std::move(result.marks)};
  if (outcome.ran_twice) {
    const OtherAddresses elsewhere;
    const RunResult again = run(plan);
    outcome.differs = again.hash != outcome.hash;
    outcome.simulated += again.simulated;
    outcome.took += again.took;
  }
  return outcome;
}

// Processes that run seeds, each one after the other, and tell of them over a pipe.
class Workers {
 public:
  explicit Workers(const Settings& settings) {
    const std::uint64_t count = settings.last - settings.first + 1;
    const std::size_t jobs = std::min<std::uint64_t>(settings.job_count, count);
    for (std::size_t job = 0; job < jobs; ++job) begin(settings, job, jobs);
  }
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // The next outcome of any of them; nothing when all are done. A worker that dies is a failure of
  // its seed.
  std::optional<Outcome> next() {
    while (!workers_.empty()) {
      fd_set readable;
      FD_ZERO(&readable);
      int highest = 0;
      for (const Worker& worker : workers_) {
        FD_SET(worker.pipe, &readable);
        highest = std::max(highest, worker.pipe);
      }
      if (::select(highest + 1, &readable, nullptr, nullptr, nullptr) < 0) continue;
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (!FD_ISSET(workers_[i].pipe, &readable)) continue;
        if (auto outcome = read_from(i)) return outcome;
        break;
      }
    }
    return std::nullopt;
  }

  void stop() {
    for (const Worker& worker : workers_) {
      ::kill(worker.process, SIGKILL);
      static_cast<void>(::waitpid(worker.process, nullptr, 0));
      ::close(worker.pipe);
    }
    workers_.clear();
  }

 private:
  struct Worker {
    pid_t process;
    int pipe;
    std::uint64_t next_seed;
    std::uint64_t step;
    std::string text;
  };

  void begin(const Settings& settings, std::size_t job, std::size_t jobs) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    const pid_t process = ::fork();
    if (process == 0) {
      ::close(ends[0]);
      for (std::uint64_t seed = settings.first + job; seed <= settings.last; seed += jobs) {
        const std::string line = to_line(run_seed(settings.plan, seed));
        for (std::size_t done = 0; done < line.size();) {
          const ssize_t count = ::write(ends[1], line.data() + done, line.size() - done);
          if (count <= 0) ::_exit(exit_failed);
          done += static_cast<std::size_t>(count);
        }
      }
      ::_exit(exit_ok);
    }
    ::close(ends[1]);
    workers_.push_back({.process = process,
                        .pipe = ends[0],
                        .next_seed = settings.first + job,
                        .step = jobs,
                        .text = ""});
  }

  std::optional<Outcome> read_from(std::size_t index) {
    Worker& worker = workers_[index];
    char buffer[4096];
    const ssize_t count = ::read(worker.pipe, buffer, sizeof(buffer));
    if (count > 0) {
      worker.text.append(buffer, static_cast<std::size_t>(count));
      const std::size_t end = worker.text.find('\n');
      if (end == std::string::npos) return std::nullopt;
      Outcome outcome = outcome_of(worker.text.substr(0, end));
      worker.text.erase(0, end + 1);
      worker.next_seed += worker.step;
      return outcome;
    }
    int status = 0;
    static_cast<void>(::waitpid(worker.process, &status, 0));
    ::close(worker.pipe);
    const std::uint64_t seed = worker.next_seed;
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_ok) return std::nullopt;
    Outcome died;
    died.seed = seed;
    died.violation = "the process died, as above or of a signal";
    return died;
  }

  std::vector<Worker> workers_;
};

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

// Smaller, if it still fails in a process of its own.
void explain(const Settings& settings, const Outcome& failed) {
  std::printf("seed %llu fails: %s\n", static_cast<unsigned long long>(failed.seed),
              failed.violation.c_str());
  RunPlan plan = settings.plan;
  plan.seed = failed.seed;
  if (failed.simulated == Duration::zero()) {  // It died.
    std::printf("replay it with\n  %s\n", replay_command(settings, plan).c_str());
    return;
  }
  std::printf("as given, %s\n  %s\n", "replay it with", replay_command(settings, plan).c_str());
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
  const std::uint64_t wanted = settings.last - settings.first + 1;
  Workers workers(settings);
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
      outcome->violation = "its second run was another one";
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
  if (!is_mark_missed && done >= runs_for_marks) {
    std::printf("each of %zu rare states was reached\n", marks.size());
  }
  return failed == 0 && !is_mark_missed ? exit_ok : exit_failed;
}

// The first seed that fails, and why. Of seeds that run at the same time the first one counts.
std::optional<Outcome> first_failure_of(const Settings& settings) {
  std::optional<Outcome> first;
  std::set<std::uint64_t> done;
  Workers workers(settings);
  while (auto outcome = workers.next()) {
    done.insert(outcome->seed);
    const bool fails = !outcome->violation.empty();
    if (fails && (!first || outcome->seed < first->seed)) first = outcome;
    if (!first) continue;
    bool is_first = true;
    for (std::uint64_t seed = settings.first; seed < first->seed && is_first; ++seed) {
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
                failure ? std::to_string(failure->seed - settings.first + 1).c_str() : "-",
                failure ? failure->violation.c_str() : "nobody");
    std::fflush(stdout);
  }
  std::printf("%zu of %zu bugs caught within %llu seeds each\n", caught_count, std::size(bugs),
              static_cast<unsigned long long>(settings.last - settings.first + 1));
  return caught_count == std::size(bugs) ? exit_ok : exit_failed;
}

// Readable, and as the trace event format that Perfetto reads: each host a thread.
class TraceFiles {
 public:
  explicit TraceFiles(const std::string& path)
      : text_(std::fopen(path.c_str(), "we")), events_(std::fopen((path + ".json").c_str(), "we")) {
    if (events_ != nullptr) std::fputs("[", events_);
  }
  ~TraceFiles() {
    if (events_ != nullptr) std::fputs("\n]\n", events_);
    for (std::FILE* const file : {text_, events_}) {
      if (file != nullptr) static_cast<void>(std::fclose(file));
    }
  }
  TraceFiles(const TraceFiles&) = delete;
  TraceFiles& operator=(const TraceFiles&) = delete;

  bool is_open() const { return text_ != nullptr && events_ != nullptr; }

  void add(const Trace::Event& event, Duration at) {
    std::fprintf(text_, "%12.6f %-12.*s %.*s %s\n", seconds(at),
                 static_cast<int>(event.host.size()), event.host.data(),
                 static_cast<int>(event.what.size()), event.what.data(), event.detail.c_str());
    const auto [thread, is_new] = threads_.emplace(event.host, threads_.size() + 1);
    if (is_new) {
      write({{"ph", "M"},
             {"name", "thread_name"},
             {"pid", 1},
             {"tid", thread->second},
             {"args", {{"name", event.host.empty() ? "checks" : std::string(event.host)}}}});
    }
    write({{"ph", "i"},
           {"s", "t"},
           {"name", std::string(event.what)},
           {"pid", 1},
           {"tid", thread->second},
           {"ts", static_cast<double>(at.count()) / 1e3},
           {"args", {{"detail", event.detail}}}});
  }

 private:
  void write(const json& event) {
    std::fputs(is_first_ ? "\n" : ",\n", events_);
    is_first_ = false;
    std::fputs(event.dump(-1, ' ', false, json::error_handler_t::replace).c_str(), events_);
  }

  std::FILE* const text_;
  std::FILE* const events_;
  bool is_first_ = true;
  std::map<std::string, std::size_t, std::less<>> threads_;
};

std::string line_of(const Trace::Event& event, Duration at) {
  return std::to_string(at.count()) + " " + std::string(event.host) + " " +
         std::string(event.what) + " " + event.detail + " " + std::to_string(event.hash);
}

// Runs it once more, and says where that is another one.
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
  std::printf("its second run is another one, from %s on\n", difference.c_str());
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
  plan.seed = settings.first;
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
  return Error(Code::invalid_argument, std::string(option) + " is " + std::string(expected) +
                                           ", not \"" + std::string(value) + "\"");
}

// A folder, a file, or the name of a fault in one of our folders.
Result<std::vector<Fault>> faults_of(const std::string& name) {
  for (const char* const folder : {"test/sim/faults/network/", "test/sim/faults/machines/"}) {
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
    return Error(Code::invalid_argument, "\"" + arguments.words.front() + "\" is no option");
  }
  std::string faults = "test/sim/faults/network,test/sim/faults/machines";
  for (const auto& [option, value] : arguments.options) {
    if (option == "--trace") settings.trace = value;
    if (option == "--faults") faults = value;
    if (option == "--bug") {
      const auto* const bug =
          std::ranges::find(bugs, value, [](const Choice& choice) { return choice.name; });
      if (bug == std::end(bugs)) return wrong(option, value, "one of those of --bug list");
      settings.plan.bugs.*bug->member = true;
      settings.bug = value;
    }
    if (option == "--seeds") {
      const std::size_t dots = value.find("..");
      const auto first = number_of(value.substr(0, dots));
      const auto last =
          dots == std::string::npos ? first : number_of(std::string_view(value).substr(dots + 2));
      if (!first || !last || *last < *first) return wrong(option, value, "as 1..200, or as 7");
      settings.first = *first;
      settings.last = *last;
    }
    for (const char* const name : {"--seconds", "--nodes", "--clients", "--jobs"}) {
      if (option != name) continue;
      const auto number = number_of(value);
      const std::uint64_t least = option == "--seconds" ? 8 : option == "--clients" ? 4 : 1;
      if (!number || *number < least || *number > 10'000) {
        return wrong(option, value, "a number from " + std::to_string(least) + " on");
      }
      if (option == "--seconds") settings.plan.length = std::chrono::seconds(*number);
      if (option == "--nodes") settings.plan.node_count = *number;
      if (option == "--clients") settings.plan.client_count = *number;
      if (option == "--jobs") settings.job_count = *number;
    }
  }
  if (!settings.trace.empty() && settings.first != settings.last) {
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
