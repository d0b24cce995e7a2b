// SPDX-License-Identifier: MIT
#include "tools/corolane/run/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <random>
#include <utility>

#include "config/units.h"
#include "coroutine/base/deadline.h"
#include "tools/corolane/figures.h"
#include "tools/corolane/run/last_lines.h"

namespace corolane::tools::cli::run {
namespace {

constexpr std::size_t last_line_count = 20;

// Exit statuses of a node after which a restart is useless or unwanted (framework/run/README.md).
constexpr int exit_wrong_configuration = 2;
constexpr int exit_second_signal = 130;

// The signals that this process handles, for poll().
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, &before_);
    descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() {
    close(descriptor_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int descriptor() const { return descriptor_; }
  // Returns the next pending signal, if any.
  std::optional<int> take() const {
    signalfd_siginfo info{};
    if (read(descriptor_, &info, sizeof(info)) != sizeof(info)) return {};
    return static_cast<int>(info.ssi_signo);
  }

 private:
  sigset_t before_;
  int descriptor_;
};

int milliseconds_until(Deadline deadline) {
  if (deadline.is_never()) return -1;
  // Rounded up, since waking too early would only cause another wait.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.time() - now()).count();
  return left <= 0 ? 0 : static_cast<int>(std::min<std::int64_t>(left, 3'600'000));
}

class Supervisor {
 public:
  explicit Supervisor(const Supervision& plan)
      : plan_(plan), back_off_(plan.back_off, std::random_device()()) {}

  Outcome run() {
    for (;;) {
      auto child = Child::start(plan_.words, plan_.environment);
      if (!child) return misused("corolane run: " + child.error().message());
      const TimePoint start = now();
      plan_.tell("started " + plan_.words.front() + ", pid " + std::to_string(child->pid()));
      const pid_t pid = child->pid();
      const Ending ending = watch(*child);
      // The process is dead, whatever happens next.
      if (ending.is_failure()) plan_.on_death();
      if (stops_) return stopped(ending);
      const std::string ended = "pid " + std::to_string(pid) + " ended with " + to_string(ending);
      if (!ending.is_failure()) return told(ended);
      if (ending.status == exit_second_signal) return told(ended + ", a second signal");
      if (ending.status == exit_wrong_configuration) return wrong_configuration(ended);

      const auto delay = back_off_.failed(now());
      const std::string lived = " after " + age_text(in_seconds(now() - start));
      if (!delay) return given_up(ended + lived);
      plan_.tell(ended + lived + "; starts again in " + age_text(in_seconds(*delay)) +
                 ", failure " + std::to_string(back_off_.failure_count()) + " of at most " +
                 std::to_string(plan_.back_off.failure_count_max) + " within " +
                 config::format_duration(plan_.back_off.window));
      if (!wait_out(Deadline::after(*delay))) return told("stopped before the next start");
    }
  }

 private:
  static double in_seconds(Duration duration) {
    return std::chrono::duration<double>(duration).count();
  }

  // Waits until the child has ended.
  Ending watch(Child& child) {
    Deadline kill_at = Deadline::never();
    Ending ending;
    bool has_output = true;
    for (;;) {
      std::array<pollfd, 2> sources = {
          {{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0},
           {.fd = has_output ? child.error_pipe() : -1, .events = POLLIN, .revents = 0}}};
      poll(sources.data(), sources.size(), milliseconds_until(kill_at));
      if (sources[1].revents != 0) has_output = pass_on_output(child);
      while (const auto number = signals_.take()) {
        if (*number == SIGHUP) child.send_signal(SIGHUP);
        if (*number != SIGTERM && *number != SIGINT) continue;
        // The first signal stops the node gracefully, the second one at once.
        child.send_signal(SIGTERM);
        if (!stops_) kill_at = Deadline::after(plan_.stop_time_max);
        stops_ = true;
      }
      if (kill_at.has_passed()) {
        plan_.tell("did not stop within " + config::format_duration(plan_.stop_time_max) +
                   ": killing it");
        child.send_signal(SIGKILL);
        kill_at = Deadline::never();
      }
      if (child.has_ended(ending)) {
        pass_on_output(child);
        return ending;
      }
    }
  }

  // Returns false when there will be no more output.
  bool pass_on_output(const Child& child) {
    std::array<char, 4'096> bytes;
    for (;;) {
      const ssize_t count = read(child.error_pipe(), bytes.data(), bytes.size());
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return false;
      if (count < 0) return true;
      const std::string_view text(bytes.data(), static_cast<std::size_t>(count));
      last_lines_.add(text);
      // The reader of our standard error may be gone.
      static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    }
  }

  // Returns false when a signal asks to stop before the deadline.
  bool wait_out(Deadline deadline) {
    while (!deadline.has_passed()) {
      pollfd source{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0};
      poll(&source, 1, milliseconds_until(deadline));
      while (const auto number = signals_.take()) {
        if (*number == SIGTERM || *number == SIGINT) return false;
      }
    }
    return true;
  }

  Outcome told(const std::string& line) const {
    plan_.tell(line);
    return "";
  }
  Outcome stopped(const Ending& ending) const {
    if (!ending.is_failure()) return told("stopped");
    return failed("corolane run: stopped, with " + to_string(ending));
  }
  Outcome wrong_configuration(const std::string& ended) const {
    return misused("corolane run: " + ended +
                   ": its command line or configuration is wrong, so a restart would not help; "
                   "its last lines:\n" +
                   last_lines_.text() + "Next: correct it, and check it with " +
                   plan_.words.front() + " --check-config");
  }
  Outcome given_up(const std::string& ended) const {
    return failed("corolane run: gave up: " + plan_.words.front() + " has failed " +
                  std::to_string(back_off_.failure_count()) + " times within " +
                  config::format_duration(plan_.back_off.window) + ", the last time " + ended +
                  "; its last lines:\n" + last_lines_.text() +
                  "Next: find and fix the cause, and start it again with corolane run");
  }

  const Supervision& plan_;
  BackOff back_off_;
  const Signals signals_;
  LastLines last_lines_{last_line_count};
  bool stops_ = false;
};

}  // namespace

Outcome supervise(const Supervision& supervision) { return Supervisor(supervision).run(); }

}  // namespace corolane::tools::cli::run
