// SPDX-License-Identifier: MIT
// A thread that sleeps until the deadline of the running test.
#include "coroutine/testing/watchdog.h"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <string_view>

#include "coroutine/testing/sanitizers.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using coroutine::Scheduler;

constexpr const char* patience_variable = "COROTEST_TIMEOUT_SECONDS";

std::chrono::duration<double> read_patience() {
  const char* const text = std::getenv(patience_variable);
  if (text == nullptr) return under_slow_watch() ? 120s : 60s;
  const std::string_view digits = text;
  double seconds = 0;
  const auto parsed = std::from_chars(digits.begin(), digits.end(), seconds);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.end() || !(seconds > 0)) {
    std::fprintf(stderr, "%s=%s is no number of seconds above zero\n", patience_variable, text);
    std::exit(2);
  }
  return std::chrono::duration<double>(seconds);
}

std::binary_semaphore tasks_printed(0);

// Runs on the test thread: prints the tasks of its innermost scheduler.
void print_tasks() {
  const Scheduler* const scheduler = Scheduler::current_or_null();
  std::fputs(scheduler != nullptr ? to_text(scheduler->tasks()).c_str() : "no scheduler runs\n",
             stderr);
  tasks_printed.release();
}

}  // namespace

Watchdog::Watchdog(Scheduler& scheduler)
    : scheduler_(scheduler),
      test_thread_(pthread_self()),
      patience_(read_patience()),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::OnTestStart(const testing::TestInfo& test) {
  const auto patience = std::chrono::duration_cast<Clock::duration>(patience_);
  {
    const std::scoped_lock lock(mutex_);
    running_ = {.name = std::string(test.test_suite_name()) + "." + test.name(),
                .deadline = Clock::now() + patience};
  }
  changed_.notify_one();
}

void Watchdog::OnTestEnd(const testing::TestInfo&) {
  const std::scoped_lock lock(mutex_);
  running_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (!running_) {
      changed_.wait(lock);
    } else if (Clock::now() < running_->deadline) {
      changed_.wait_until(lock, running_->deadline);
    } else {
      const std::string name = running_->name;
      lock.unlock();
      give_up(name);
    }
  }
}

void Watchdog::give_up(const std::string& test_name) {
  std::fprintf(stderr, "\nthe test %s takes longer than %g s of real time; its tasks:\n",
               test_name.c_str(), patience_.count());
  scheduler_.post(print_tasks);
  if (!tasks_printed.try_acquire_for(2s)) {
    // A task does not suspend, or runs a scheduler of its own. A signal prints the tasks in the
    // middle of its work; if that hangs as well, the alarm ends the process.
    std::fputs(
        "(the test does not return to its scheduler: interrupted, the list may be inconsistent)\n",
        stderr);
    alarm(20);
    std::signal(SIGRTMAX, [](int) { print_tasks(); });
    pthread_kill(test_thread_, SIGRTMAX);
    if (!tasks_printed.try_acquire_for(10s)) std::fputs("(no answer)\n", stderr);
  }
  std::abort();
}

}  // namespace corolane::test
