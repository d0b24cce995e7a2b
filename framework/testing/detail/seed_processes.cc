// Forks workers, runs seeds in them, and reads their outcomes.
#include "framework/testing/detail/seed_processes.h"

#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/testing/detail/other_addresses.h"

namespace corolane::sim {
namespace {

using nlohmann::json;

constexpr int exit_ok = 0;
constexpr int exit_failed = 1;

// One in this many seeds is run twice, to check that both runs are the same. It is not a multiple
// of `in_order_one_in` (run.cc), so that both orders are covered.
constexpr std::uint64_t twice_one_in = 19;

// A worker reports an outcome as a line of JSON.
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

}  // namespace

Workers::Workers(const RunPlan& plan, const Seeds& seeds, std::size_t job_count) {
  const std::size_t jobs = std::min<std::uint64_t>(job_count, seeds.count());
  for (std::size_t job = 0; job < jobs; ++job) begin(plan, seeds, job, jobs);
}

std::optional<Outcome> Workers::next() {
  while (!workers_.empty()) {
    for (Worker& worker : workers_) {
      if (auto outcome = take_line(worker)) return outcome;
    }
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
      if (auto died = read_from(i)) return died;
      break;
    }
  }
  return std::nullopt;
}

void Workers::stop() {
  for (const Worker& worker : workers_) {
    ::kill(worker.process, SIGKILL);
    static_cast<void>(::waitpid(worker.process, nullptr, 0));
    ::close(worker.pipe);
  }
  workers_.clear();
}

void Workers::begin(const RunPlan& plan, const Seeds& seeds, std::size_t job, std::size_t jobs) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t process = ::fork();
  if (process < 0) {
    std::perror("simulate: cannot fork a worker");
    std::abort();
  }
  if (process == 0) {
    ::close(ends[0]);
    for (std::uint64_t seed = seeds.first + job; seed <= seeds.last; seed += jobs) {
      const std::string line = to_line(run_seed(plan, seed));
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
                      .next_seed = seeds.first + job,
                      .step = jobs,
                      .text = ""});
}

// Takes the next complete outcome of a worker.
std::optional<Outcome> Workers::take_line(Worker& worker) {
  const std::size_t end = worker.text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  Outcome outcome = outcome_of(worker.text.substr(0, end));
  worker.text.erase(0, end + 1);
  worker.next_seed += worker.step;
  return outcome;
}

// Returns an outcome when the worker has died.
std::optional<Outcome> Workers::read_from(std::size_t index) {
  Worker& worker = workers_[index];
  char buffer[4096];
  const ssize_t count = ::read(worker.pipe, buffer, sizeof(buffer));
  if (count > 0) {
    worker.text.append(buffer, static_cast<std::size_t>(count));
    return std::nullopt;
  }
  int status = 0;
  static_cast<void>(::waitpid(worker.process, &status, 0));
  ::close(worker.pipe);
  const std::uint64_t seed = worker.next_seed;
  workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(index));
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_ok) return std::nullopt;
  Outcome died;
  died.seed = seed;
  died.violation = "the process died: see its message above, or a signal ended it";
  return died;
}

}  // namespace corolane::sim
