// SPDX-License-Identifier: MIT
// Forks a process for each run, and reads its report.
#include "framework/testing/detail/seed_processes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_info.h"

namespace corolane::sim {
namespace {

constexpr int exit_late = 124;

// The process hangs: prints the tasks of the host that runs, in the middle of its work. A second
// alarm ends the process when even that hangs.
void tell_tasks_and_exit(int) {
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(10);
  const auto* const scheduler = coroutine::Scheduler::current_or_null();
  if (scheduler != nullptr) std::fputs(to_text(scheduler->tasks()).c_str(), stderr);
  std::fflush(nullptr);
  ::_exit(exit_late);
}

std::string death_of(int status, std::chrono::seconds time_max) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return "";
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_late) {
    return "a run takes longer than " + std::to_string(time_max.count()) +
           " s of real time: see its tasks above";
  }
  if (WIFSIGNALED(status)) {
    return "the process died by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + "): see its message above";
  }
  return "the process exited with status " + std::to_string(WEXITSTATUS(status)) +
         ": see its message above";
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) ::_exit(EXIT_FAILURE);
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace

void SeedProcesses::start(std::uint64_t seed, const std::function<std::string()>& work,
                          bool is_quiet) {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "a run has a pipe for its report");
  std::fflush(nullptr);
  const pid_t id = ::fork();
  check(id >= 0, "a run has a process");
  if (id == 0) run(ends[1], work, is_quiet);
  ::close(ends[1]);
  processes_.push_back({.id = id, .pipe = ends[0], .seed = seed});
}

void SeedProcesses::run(int pipe, const std::function<std::string()>& work, bool is_quiet) const {
  if (is_quiet) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  std::signal(SIGALRM, tell_tasks_and_exit);
  ::alarm(static_cast<unsigned>(time_max_.count()));
  const std::string report = work();
  std::fflush(nullptr);
  write_all(pipe, report);
  // Skips what belongs to the parent, such as its threads and its other processes.
  ::_exit(EXIT_SUCCESS);
}

std::optional<SeedProcesses::Ended> SeedProcesses::next() {
  while (!processes_.empty()) {
    std::vector<pollfd> pipes;
    for (const Process& process : processes_) {
      pipes.push_back({.fd = process.pipe, .events = POLLIN, .revents = 0});
    }
    if (::poll(pipes.data(), pipes.size(), -1) < 0) {
      check(errno == EINTR, "the pipes of runs can be polled");
      continue;
    }
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      if (pipes[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t count = ::read(pipes[i].fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return bury(i);
      processes_[i].report.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  return std::nullopt;
}

SeedProcesses::Ended SeedProcesses::bury(std::size_t index) {
  const Process process = processes_[index];
  processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(index));
  ::close(process.pipe);
  int status = 0;
  while (::waitpid(process.id, &status, 0) < 0 && errno == EINTR) {
  }
  return {.seed = process.seed, .report = process.report, .death = death_of(status, time_max_)};
}

void SeedProcesses::stop_from(std::uint64_t seed) {
  for (std::size_t i = processes_.size(); i > 0; --i) {
    if (processes_[i - 1].seed < seed) continue;
    ::kill(processes_[i - 1].id, SIGKILL);
    static_cast<void>(bury(i - 1));
  }
}

}  // namespace corolane::sim
