// SPDX-License-Identifier: MIT
#include "framework/node/detail/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"

namespace corolane::framework::detail {
namespace {

constexpr int exit_time_is_up = 0;
constexpr int exit_second_signal = 130;

// Blocks the thread until one of the signals arrives; returns nothing at the deadline.
std::optional<int> take_signal(const sigset_t& signals, Deadline deadline) {
  for (;;) {
    const Duration left = deadline.remaining();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    const int number = sigtimedwait(&signals, nullptr, &time);
    if (number > 0) return number;
    if (errno == EAGAIN) return {};
    // EINTR: a debugger, or another signal.
  }
}

}  // namespace

StopSignal::StopSignal(coroutine::Scheduler& scheduler, Duration time_max, Log& log,
                       std::function<void()> on_hangup)
    : scheduler_(scheduler), time_max_(time_max), log_(log), on_hangup_(std::move(on_hangup)) {
  const sigset_t blocked = signals();
  check(pthread_sigmask(SIG_BLOCK, &blocked, &previous_) == 0, "these signals can be blocked");
  thread_ = std::thread([this] { watch(); });
}

StopSignal::~StopSignal() {
  released_.store(true, std::memory_order_release);
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
  // A pending signal would now kill a process that has shut down cleanly.
  const sigset_t ours = signals();
  while (take_signal(ours, Deadline::passed())) {
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

Result<StopSignal::Arrival> StopSignal::wait() {
  if (auto arrived = arrived_.wait(Deadline::never()); !arrived) return arrived.error();
  return arrival_;
}

void StopSignal::ask() {
  asked_.store(true, std::memory_order_release);
  // The thread waits for it; it ends nothing.
  pthread_kill(thread_.native_handle(), SIGTERM);  // NOLINT(bugprone-bad-signal-to-kill-thread)
}

sigset_t StopSignal::signals() const {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (on_hangup_) sigaddset(&signals, SIGHUP);
  return signals;
}

void StopSignal::watch() {
  const sigset_t ours = signals();
  int first = *take_signal(ours, Deadline::never());
  for (; first == SIGHUP; first = *take_signal(ours, Deadline::never())) {
    scheduler_.post([this] { on_hangup_(); });
  }
  if (released_.load(std::memory_order_acquire)) return;
  if (first == SIGTERM) asked_.store(false, std::memory_order_release);
  const TimePoint time = now();
  const Duration time_max = time_max_.load(std::memory_order_relaxed);
  scheduler_.post([this, first, time] {
    arrival_ = {.number = first, .time = time};
    arrived_.set();
  });

  const auto is_no_second = [this](std::optional<int> number) {
    return number == SIGHUP ||
           (number == SIGTERM && asked_.exchange(false, std::memory_order_acq_rel));
  };
  auto second = take_signal(ours, Deadline::at(time + time_max));
  while (is_no_second(second)) second = take_signal(ours, Deadline::at(time + time_max));
  if (released_.load(std::memory_order_acquire)) return;
  if (second) std::_Exit(exit_second_signal);
  // The log call may block on stderr.
  std::signal(SIGALRM, [](int) { std::_Exit(exit_time_is_up); });
  ::alarm(1);
  log_.error("the node does not stop: a task ignores its cancellation or never suspends; exiting",
             {{"waited", time_max}});
  std::_Exit(exit_time_is_up);
}

}  // namespace corolane::framework::detail
