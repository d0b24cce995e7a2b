// SPDX-License-Identifier: MIT
#include "tools/corolane/simulate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/corolane/program.h"
#include "tools/seed_options.h"

namespace corolane::tools::cli {
namespace {

constexpr std::string_view simulate_help =
    R"(Usage: corolane simulate PROGRAM [options]

Runs the simulated tests of a test program (SIMULATED_TEST) once for each seed:
a cluster with its clients, network, clocks, directory and store in one thread
and simulated time, under faults. Prints progress and a summary. The first seed
that fails is made smaller: fewer faults, nodes, clients and seconds. Its events
are written to a file, and the command that replays exactly this run is printed.

  --test SUITE.NAME    run only this test of the program; may contain * and ?
  --seeds A..B         the seeds to run; by default 1..200; 7 is a single one
  --seconds N          simulated seconds of each run; by default the test's own,
                       as for nodes, clients and faults
  --nodes N            nodes of the cluster
  --clients N          clients, in a test that asks the run how many
  --faults A,B,...     names of faults, files or folders of faults, "none", or
                       "all" for the standard ones
  --jobs N             runs at the same time; by default one for each core
  --in-order           run ready tasks in the order in which they became ready
  --keep-going         run all seeds, and do not shrink the ones that fail
  --trace FILE         write every event of a single seed, or of the seed that
                       fails, to FILE as text, and for https://ui.perfetto.dev
                       to FILE.json

  corolane simulate build/debug/my_game_test --seeds 1..1000

Exit status: 0 success, 1 a seed fails, 2 wrong usage.
)";

constexpr auto simulate_options = [] {
  std::array<OptionRule, seed_option_rules.size() + 1> rules{};
  std::ranges::copy(seed_option_rules, rules.begin());
  rules.back() = {.name = "--test", .has_value = true};
  return rules;
}();

// A test takes longer than the watchdog of the program allows when it runs for many seeds.
constexpr const char* no_watchdog = "COROTEST_TIMEOUT_SECONDS=1000000000";
constexpr int exit_failed = 1;

// In quotes, unless a shell takes it for one word anyway.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._-/+,=:@%").contains(c);
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Whether a name fits a pattern with * and ?.
bool fits(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    return fits(name, pattern.substr(1)) || (!name.empty() && fits(name.substr(1), pattern));
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         fits(name.substr(1), pattern.substr(1));
}

// The names of the simulated tests in what a program of GoogleTest prints for --gtest_list_tests.
std::vector<std::string> simulated_tests_of(std::string_view listed) {
  constexpr std::string_view mark = "  # GetParam() = any seed";
  std::vector<std::string> tests;
  std::string suite;
  while (!listed.empty()) {
    const std::size_t end = std::min(listed.find('\n'), listed.size());
    const std::string_view line = listed.substr(0, end);
    listed.remove_prefix(std::min(end + 1, listed.size()));
    if (!line.starts_with("  ")) {
      suite = line.substr(0, line.find(' '));
    } else if (line.ends_with(mark)) {
      tests.push_back(suite + std::string(line.substr(2, line.size() - 2 - mark.size())));
    }
  }
  return tests;
}

// The request that the test reads from its environment: framework/testing/simulated_test.cc.
std::string request_of(const Arguments& arguments, const std::string& command) {
  std::string request = "COROLANE_SIMULATE=command=" + command + "\n";
  for (const auto& [name, value] : arguments.options) {
    if (name != "--test") {
      request.append(name).append("=").append(value).append("\n");
    }
  }
  return request;
}

Outcome run_simulate(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (words.empty()) return wrong_usage("simulate", "needs the PROGRAM of the tests");
  if (words.size() > 1) return wrong_usage("simulate", "stray argument \"" + words[1] + "\"");
  const std::string program = words[0].contains('/') ? words[0] : "./" + words[0];
  const auto listed = output_of(std::vector<std::string>{program, "--gtest_list_tests"});
  if (!listed) return misused("corolane simulate: " + listed.error().message());
  std::vector<std::string> tests = simulated_tests_of(*listed);
  if (tests.empty()) {
    return misused("corolane simulate: " + program + " has no simulated test: declare one by " +
                   "SIMULATED_TEST of framework/testing/simulated_test.h");
  }
  if (const auto wanted = arguments.options.find("--test"); wanted != arguments.options.end()) {
    std::string known;
    for (const std::string& test : tests) known += " " + test;
    std::erase_if(tests, [&](const std::string& test) { return !fits(test, wanted->second); });
    if (tests.empty()) {
      return misused("corolane simulate: " + program + " has no simulated test " + wanted->second +
                     "; it has" + known);
    }
  }
  std::size_t failed_count = 0;
  for (const std::string& test : tests) {
    std::cout << test << std::endl;
    const std::string command =
        "corolane simulate " + shell_word(words[0]) + " --test " + shell_word(test);
    const auto status =
        run_here(std::vector<std::string>{program, "--gtest_brief=1", "--gtest_filter=" + test},
                 std::vector<std::string>{request_of(arguments, command), no_watchdog});
    if (!status) return failed("corolane simulate: " + status.error().message());
    if (*status > exit_failed) {
      const Failure::Kind kind = *status == 2 ? Failure::Kind::misused : Failure::Kind::failed;
      return std::unexpected(Failure{
          kind, "corolane simulate: " + test + " ended with status " + std::to_string(*status)});
    }
    failed_count += *status == exit_failed ? 1 : 0;
  }
  if (failed_count == 0) return "";
  return failed("corolane simulate: " + std::to_string(failed_count) + " of " +
                std::to_string(tests.size()) + (tests.size() == 1 ? " test" : " tests") +
                " failed");
}

}  // namespace

constexpr Command simulate_command = {
    .name = "simulate",
    .summary = "runs the simulated tests of a program for many seeds",
    .help = simulate_help,
    .options = simulate_options,
    .run = run_simulate,
    .word = WordKind::file,
};

}  // namespace corolane::tools::cli
