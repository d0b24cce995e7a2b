// SPDX-License-Identifier: MIT
// Forks and executes, with a pipe for stdout and an unnamed file for stderr.
#include "tools/processes/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

#include "coroutine/base/check.h"

namespace corolane::test {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string read_all(std::FILE* file) {
  std::string text;
  std::array<char, 4096> part;
  for (std::size_t size; (size = std::fread(part.data(), 1, part.size(), file)) > 0;) {
    text.append(part.data(), size);
  }
  return text;
}

}  // namespace

UnreadPipe::UnreadPipe() { check(::pipe2(ends_.data(), O_CLOEXEC) == 0, "a pipe can be created"); }

UnreadPipe::~UnreadPipe() {
  for (const int end : ends_) ::close(end);
}

void UnreadPipe::fill() {
  // Opened again, so that only this descriptor is non-blocking.
  const std::string path = "/proc/self/fd/" + std::to_string(entry());
  const int filling = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  check(filling >= 0, "a pipe can be opened again");
  constexpr std::array<char, 4096> page = {};
  while (::write(filling, page.data(), page.size()) > 0) {
  }
  while (::write(filling, page.data(), 1) > 0) {
  }
  ::close(filling);
}

ChildProcess::ChildProcess(const std::string& program, std::vector<std::string> arguments,
                           std::vector<std::string> variables, std::optional<int> errors)
    : errors_(std::tmpfile()) {
  check(errors_ != nullptr, "a temporary file can be created");
  arguments.insert(arguments.begin(), program);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> variable_pointers = pointers_to(variables);
  std::array<int, 2> ends;
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be created");

  pid_ = ::fork();
  check(pid_ >= 0, "a process can be forked");
  if (pid_ == 0) {
    // The child may neither allocate nor lock: another thread may have held a lock during the fork.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(errors.value_or(::fileno(errors_)), STDERR_FILENO);
    ::execve(program.c_str(), argument_pointers.data(), variable_pointers.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ::fdopen(ends[0], "r");
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    send_signal(SIGKILL);
    wait();
  }
  std::fclose(output_);
  std::fclose(errors_);
}

std::string ChildProcess::read_line() {
  std::string line;
  for (int c; (c = std::fgetc(output_)) != EOF && c != '\n';) line.push_back(static_cast<char>(c));
  return line;
}

void ChildProcess::send_signal(int signal) const {
  check(pid_ > 0, "the process was not waited for");
  ::kill(pid_, signal);
}

void ChildProcess::freeze() const {
  send_signal(SIGSTOP);
  siginfo_t stopped;
  check(::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT) == 0,
        "the process is there");
}

ChildProcess::End ChildProcess::wait() {
  int status = 0;
  const pid_t ended = ::waitpid(std::exchange(pid_, -1), &status, 0);
  check(ended > 0, "a process is waited for once");
  if (WIFSIGNALED(status)) return {.exit_status = -1, .signal = WTERMSIG(status)};
  return {.exit_status = WEXITSTATUS(status), .signal = 0};
}

std::string ChildProcess::rest_of_output() { return read_all(output_); }

std::string ChildProcess::error_output() {
  check(std::fseek(errors_, 0, SEEK_SET) == 0, "a file can be read from its start");
  return read_all(errors_);
}

}  // namespace corolane::test
