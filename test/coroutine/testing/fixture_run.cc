// SPDX-License-Identifier: MIT
// Runs through a shell, which merges stdout and stderr into one stream.
#include "test/coroutine/testing/fixture_run.h"

#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>

namespace corolane::test {

FixtureRun run_fixture(std::string_view filter, std::string_view variable) {
  std::string command = "exec env ";
  command.append(variable)
      .append(" '" COROLANE_SUPPORT_FIXTURE "' '--gtest_filter=")
      .append(filter);
  command.append("' 2>&1");

  FixtureRun run = {.aborted = false, .exit_status = -1, .output = {}};
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  std::array<char, 4096> part;
  for (std::size_t size; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    run.output.append(part.data(), size);
  }
  const int status = pclose(pipe);
  run.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  if (WIFEXITED(status)) run.exit_status = WEXITSTATUS(status);
  return run;
}

}  // namespace corolane::test
