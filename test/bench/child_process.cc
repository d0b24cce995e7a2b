// The standard output of every child is a pipe to us. What it prints is the value and, if it
// counts them, the allocations per operation; or, with a status other than 0, why there is none.
#include "test/bench/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

namespace corolane::bench {
namespace {

constexpr unsigned patience_seconds = 120;

// The last core that we may use: interrupts mostly go to the first.
void pin_to_one_core() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(core, &allowed)) --core;
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  CPU_SET(core, &chosen);
  sched_setaffinity(0, sizeof(chosen), &chosen);
}

void print_measurement(const Measurement& measurement) {
  std::printf("%.17g %.17g\n", measurement.value, measurement.allocations_per_op);
}

// Runs in the child and ends it, without the destructors of what the parent had built.
[[noreturn]] void run_child(int output, const Measure& measure) {
  dup2(output, STDOUT_FILENO);
  alarm(patience_seconds);
  pin_to_one_core();
  std::feclearexcept(FE_ALL_EXCEPT);  // As a program starts; see measurement.h.
  const Result<Measurement> measured = measure();
  if (measured) {
    print_measurement(*measured);
  } else {
    std::printf("%s\n", measured.error().message().c_str());
  }
  std::fflush(stdout);
  _exit(measured ? EXIT_SUCCESS : EXIT_FAILURE);
}

std::string read_all(int input) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = read(input, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string describe_end(int status, std::string text) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM) return "gave no answer for " + std::to_string(patience_seconds) + " s";
    return std::string("crashed: ") + strsignal(signal);
  }
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "ended with status " + std::to_string(WEXITSTATUS(status)) : text;
}

Result<std::string> output_of_child(const Measure& measure) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error(Code::unavailable, std::string("no pipe: ") + std::strerror(errno));
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) run_child(ends[1], measure);
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  if (child < 0) return Error(Code::unavailable, std::string("no process: ") + strerror(errno));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return Error(Code::unavailable, describe_end(status, std::move(text)));
  return text;
}

}  // namespace

Result<Measurement> measure_in_child(const Measure& measure) {
  auto text = output_of_child(measure);
  if (!text) return text.error();
  Measurement measured;
  std::istringstream numbers(*text);
  if (!(numbers >> measured.value)) {
    return Error(Code::internal, "printed \"" + *text + "\" instead of a number");
  }
  numbers >> measured.allocations_per_op;
  return measured;
}

Measure program_measure(std::string program, std::vector<std::string> arguments) {
  return [program = std::move(program),
          arguments = std::move(arguments)]() mutable -> Result<Measurement> {
    std::vector<char*> words{program.data()};
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(program.c_str(), words.data());
    return Error(Code::not_found, program + ": " + std::strerror(errno));
  };
}

Result<std::string> output_of(const std::string& program, std::vector<std::string> arguments) {
  return output_of_child(program_measure(program, std::move(arguments)));
}

}  // namespace corolane::bench
