// Runs tests of support_fixture in a process of their own and tells how that ended.
#pragma once

#include <string>
#include <string_view>

namespace corolane::test {

struct FixtureRun {
  bool aborted;        // By SIGABRT; otherwise it exited.
  int exit_status;     // Meaningful unless aborted.
  std::string output;  // What it printed, errors included.
};

// `filter` selects tests as --gtest_filter does; `patience` is the watchdog's, in seconds, none
// for its default.
FixtureRun run_fixture(std::string_view filter, std::string_view patience = {});

}  // namespace corolane::test
