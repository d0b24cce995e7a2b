// SPDX-License-Identifier: MIT
#include "tools/corolane/run/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/corolane/program.h"

namespace corolane::tools::cli::run {
namespace {

// The spawn settings of the child, besides its words.
class SpawnSetup {
 public:
  explicit SpawnSetup(int error_pipe) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // In its own process group, it must not read from the terminal.
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, error_pipe, STDERR_FILENO);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string to_string(const Ending& ending) {
  if (ending.signal == 0) return "exit status " + std::to_string(ending.status);
  return "signal " + std::to_string(ending.signal) + " (" + strsignal(ending.signal) + ")";
}

Result<Child> Child::start(std::span<const std::string> words,
                           std::span<const std::string> environment) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(words.front(), errno);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);

  std::vector<std::string> arguments(words.begin(), words.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  variables.insert(variables.end(), environment.begin(), environment.end());
  const SpawnSetup setup(ends[1]);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front().c_str(), setup.actions(), setup.attributes(),
                                 pointers_to(arguments).data(), pointers_to(variables).data());
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return cannot_start(words.front(), error);
  }
  return Child(pid, ends[0]);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), error_pipe_(std::exchange(other.error_pipe_, -1)) {}

Child::~Child() {
  if (pid_ != 0) {
    send_signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (error_pipe_ >= 0) close(error_pipe_);
}

void Child::send_signal(int number) const {
  if (pid_ != 0) kill(pid_, number);
}

bool Child::has_ended(Ending& ending) {
  int status = 0;
  if (pid_ == 0 || waitpid(pid_, &status, WNOHANG) != pid_) return false;
  ending = WIFSIGNALED(status) ? Ending{.status = 0, .signal = WTERMSIG(status)}
                               : Ending{.status = WEXITSTATUS(status), .signal = 0};
  pid_ = 0;
  return true;
}

}  // namespace corolane::tools::cli::run
