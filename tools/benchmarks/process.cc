// SPDX-License-Identifier: MIT
// Two pipes, a fork, and PR_SET_PDEATHSIG, which kills a child when its parent dies.
#include "tools/benchmarks/process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace corolane::bench {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error(Code::unavailable, std::string("cannot create a pipe: ") + std::strerror(errno));
  }
  return Pipe{.read_end = ends[0], .write_end = ends[1]};
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(std::exchange(descriptor, -1));
}

// The affinity of the process before the first pin_to().
const cpu_set_t& allowed_cores() {
  static const cpu_set_t allowed = [] {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    return cores;
  }();
  return allowed;
}

[[noreturn]] void run_child(pid_t parent, int input, int output, const std::function<int()>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // The parent died before prctl().
  std::signal(SIGPIPE, SIG_DFL);
  alarm(patience_seconds);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  // A reader sees the end of a pipe only when no other process holds it open.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const int status = body();
  std::fflush(stdout);
  _exit(status);
}

}  // namespace

void pin_to(Core core) {
  const cpu_set_t& allowed = allowed_cores();
  if (CPU_COUNT(&allowed) == 0) return;
  int index = core == Core::measured ? CPU_SETSIZE - 1 : 0;
  while (!CPU_ISSET(index, &allowed)) index += core == Core::measured ? -1 : 1;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(index, &chosen);
  sched_setaffinity(0, sizeof chosen, &chosen);
}

Result<Process> Process::start(const std::function<int()>& body) {
  auto input = make_pipe();
  if (!input) return input.error();
  auto output = make_pipe();
  if (!output) {
    close(input->read_end);
    close(input->write_end);
    return output.error();
  }
  std::fflush(nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // A write to an ended child returns an error.
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) run_child(parent, input->read_end, output->write_end, body);
  const int problem = errno;
  close(input->read_end);
  close(output->write_end);
  Process process(child, input->write_end, output->read_end);
  if (child > 0) return process;
  return Error(Code::unavailable, std::string("cannot fork: ") + std::strerror(problem));
}

Process::Process(Process&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      unread_(std::move(other.unread_)) {}

Process::~Process() {
  close_if_open(input_);
  close_if_open(output_);
  if (id_ <= 0) return;
  kill(id_, SIGKILL);
  wait();
}

Result<std::string> Process::read_line() {
  for (;;) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (!read_more()) return describe_end();
  }
}

Result<void> Process::write_line(std::string_view line) {
  const std::string text = std::string(line) + '\n';
  // A pipe accepts a short line as a whole or not at all.
  if (write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return describe_end();
}

Result<std::string> Process::finish() {
  close_if_open(input_);
  while (read_more()) {
  }
  std::string text = std::exchange(unread_, {});
  if (id_ <= 0) return Error(Code::unavailable, "the process has ended");
  const int status = wait();
  if (status == 0) return text;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return Error(Code::unavailable,
                 signal == SIGALRM ? "gave no answer for " + std::to_string(patience_seconds) + " s"
                                   : std::string("crashed: ") + strsignal(signal));
  }
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty()) text = "ended with status " + std::to_string(WEXITSTATUS(status));
  return Error(Code::unavailable, std::move(text));
}

bool Process::read_more() {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }
}

Error Process::describe_end() {
  const auto finished = finish();
  return finished ? Error(Code::unavailable, "ended too early") : finished.error();
}

int Process::wait() {
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return status;
}

Error become(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  std::string name = program;
  std::vector<char*> pointers{name.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  return Error(Code::not_found, program + ": " + std::strerror(errno));
}

}  // namespace corolane::bench
