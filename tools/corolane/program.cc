// SPDX-License-Identifier: MIT
#include "tools/corolane/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "coroutine/base/text.h"

namespace corolane::tools::cli {
namespace {

// `output` becomes the standard output of the program; -1: it keeps that of this process.
Result<pid_t> start(std::span<const std::string> words, std::span<const std::string> variables,
                    int output) {
  std::vector<std::string> arguments(words.begin(), words.end());
  std::vector<std::string> environment(variables.begin(), variables.end());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front().c_str(), &actions, nullptr,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return cannot_start(words.front(), error);
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error cannot_start(const std::string& program, int error_number) {
  const bool is_refused = error_number == EACCES || error_number == ENOEXEC;
  return {is_refused ? Code::permission_denied : Code::not_found,
          quote(program) + " cannot be started: " + std::strerror(error_number)};
}

Result<std::string> output_of(std::span<const std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(words.front(), errno);
  const auto pid = start(words, {}, ends[1]);
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = pid ? read(ends[0], buffer.data(), buffer.size()) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (!pid) return pid.error();
  if (const int status = wait_for(*pid); status != 0) {
    return Error(Code::aborted,
                 quote(words.front()) + " ended with status " + std::to_string(status));
  }
  return output;
}

Result<int> run_here(std::span<const std::string> words, std::span<const std::string> variables) {
  const auto pid = start(words, variables, -1);
  if (!pid) return pid.error();
  return wait_for(*pid);
}

Error become(std::span<const std::string> words) {
  std::vector<std::string> arguments(words.begin(), words.end());
  execvp(words.front().c_str(), pointers_to(arguments).data());
  return cannot_start(words.front(), errno);
}

}  // namespace corolane::tools::cli
