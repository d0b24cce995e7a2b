// SPDX-License-Identifier: MIT
// Runs tests of support_fixture in a process of their own and reports how it ended.
#pragma once

#include <string>
#include <string_view>

namespace corolane::test {

struct FixtureRun {
  bool aborted;        // By SIGABRT; otherwise it exited.
  int exit_status;     // Meaningful unless aborted.
  std::string output;  // Its stdout and stderr.
};

// `filter` selects tests as --gtest_filter does; `variable`, "NAME=VALUE", is added to the
// environment unless it is empty.
FixtureRun run_fixture(std::string_view filter, std::string_view variable = {});

}  // namespace corolane::test
