// SPDX-License-Identifier: MIT
// Runs a test for a few seeds, or drives it for many when the environment says so.
#include "framework/testing/simulated_test.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "framework/testing/seed_driver.h"

namespace corolane::sim {
namespace {

constexpr int exit_wrong_usage = 2;
// The request of `corolane simulate`: lines "--option=value", and "command=" with the command.
constexpr const char* request_variable = "COROLANE_SIMULATE";
constexpr const char* seed_variable = "COROTEST_SEED";
constexpr std::uint64_t seed_count = 5;

std::string violation_of(const testing::TestPartResult& failure) {
  const std::string file = failure.file_name() == nullptr
                               ? std::string("an unknown file")
                               : std::filesystem::path(failure.file_name()).filename().string();
  return file + " line " + std::to_string(failure.line_number()) + ": " + failure.message();
}

// Turns expectations that are not met into violations of the run. Those of clients that are
// cancelled, when a violation has ended the run, come after it and are not reported.
void run_body(void (*body)(SimulatedRun&), SimulatedRun& run) {
  testing::TestPartResultArray results;
  const auto failure = [&results]() -> const testing::TestPartResult* {
    for (int i = 0; i < results.size(); ++i) {
      if (results.GetTestPartResult(i).failed()) return &results.GetTestPartResult(i);
    }
    return nullptr;
  };
  run.set_has_failed([&] { return failure() != nullptr; });
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    body(run);
  }
  if (failure() != nullptr) run.violated(violation_of(*failure()));
}

Result<DriveOptions> read_request(const char* text) {
  DriveOptions options;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = std::min(line.find('='), line.size());
    const std::string name = line.substr(0, equals);
    const std::string value = equals == line.size() ? "" : line.substr(equals + 1);
    if (name == "command") {
      options.command = value;
    } else if (auto set = set_option(options, name, value); !set) {
      return set.error();
    }
  }
  return options;
}

class SimulatedTest : public testing::Test {
 public:
  SimulatedTest(const TestPlace& place, RunPlan (*plan)(), void (*body)(SimulatedRun&))
      : place_(place), plan_(plan), scenario_([body](SimulatedRun& run) { run_body(body, run); }) {}

  void TestBody() override {
    if (const char* const request = std::getenv(request_variable)) drive_and_exit(request);
    const char* const seed = std::getenv(seed_variable);
    const std::uint64_t first = seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
    const std::uint64_t last = seed == nullptr ? seed_count : first;
    for (std::uint64_t i = first; i <= last && !HasFailure(); ++i) run(i);
  }

 private:
  void run(std::uint64_t seed) {
    RunPlan plan = plan_();
    plan.seed = seed;
    const RunResult result = run_once(scenario_, plan);
    if (result.violations.empty()) return;
    ADD_FAILURE_AT(place_.file, place_.line)
        << "seed " << seed << " fails: " << result.violations.front()
        << "\ncorolane simulate PROGRAM --test " << place_.suite << "." << place_.test
        << " --seeds " << seed << " shrinks it and writes its events";
  }

  // The driver has printed all that there is to say.
  [[noreturn]] void drive_and_exit(const char* request) {
    int status = exit_wrong_usage;
    if (const auto options = read_request(request)) {
      status = drive(scenario_, plan_(), *options);
    } else {
      std::fprintf(stderr, "%s\n", options.error().message().c_str());
    }
    std::fflush(nullptr);
    std::_Exit(status);
  }

  const TestPlace place_;
  RunPlan (*const plan_)();
  const Scenario scenario_;
};

}  // namespace

bool add_simulated_test(const TestPlace& place, RunPlan (*plan)(),
                        void (*body)(SimulatedRun& run)) {
  // The parameter marks it in the list of the tests, where `corolane simulate` looks for it. The
  // type of the result is that of TEST(), so that both can be in one suite.
  testing::RegisterTest(place.suite, place.test, nullptr, "any seed", place.file, place.line,
                        [=]() -> testing::Test* { return new SimulatedTest(place, plan, body); });
  return true;
}

}  // namespace corolane::sim
