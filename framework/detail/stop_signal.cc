#include "framework/detail/stop_signal.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"

namespace corolane::framework::detail {
namespace {

constexpr int exit_time_is_up = 0;
constexpr int exit_second_signal = 130;

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// Blocks the thread until one of them has come, or the time is up: then returns nothing.
std::optional<int> take_signal(const sigset_t& signals, Deadline deadline) {
  for (;;) {
    const Duration left = deadline.remaining();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time = {.tv_sec = seconds.count(), .tv_nsec = (left - seconds).count()};
    if (const int number = sigtimedwait(&signals, nullptr, &time); number > 0) return number;
    if (errno == EAGAIN) return {};
    // EINTR: a debugger, or a signal that is not ours.
  }
}

}  // namespace

StopSignal::StopSignal(coroutine::Scheduler& scheduler, Duration time_max, Log& log)
    : scheduler_(scheduler), time_max_(time_max), log_(log) {
  const sigset_t signals = stop_signals();
  check(pthread_sigmask(SIG_BLOCK, &signals, &previous_) == 0, "these signals can be blocked");
  thread_ = std::thread([this] { watch(); });
}

StopSignal::~StopSignal() {
  released_.store(true, std::memory_order_release);
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
  // One that still came would end the process here, where it has just ended well.
  const sigset_t signals = stop_signals();
  while (take_signal(signals, Deadline::passed())) {
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

Result<StopSignal::Arrival> StopSignal::wait() {
  if (auto arrived = arrived_.wait(Deadline::never()); !arrived) return arrived.error();
  return arrival_;
}

void StopSignal::watch() {
  const sigset_t signals = stop_signals();
  const int first = *take_signal(signals, Deadline::never());
  if (released_.load(std::memory_order_acquire)) return;
  const TimePoint time = now();
  scheduler_.post([this, first, time] {
    arrival_ = {.number = first, .time = time};
    arrived_.set();
  });

  const auto second = take_signal(signals, Deadline::at(time + time_max_));
  if (released_.load(std::memory_order_acquire)) return;
  if (second) std::_Exit(exit_second_signal);
  // Should stderr be what holds the node up.
  std::signal(SIGALRM, [](int) { std::_Exit(exit_time_is_up); });
  ::alarm(1);
  log_.error("the node does not stop: a task ignores its cancellation or never suspends; exits",
             {{"waited", time_max_}});
  std::_Exit(exit_time_is_up);
}

}  // namespace corolane::framework::detail
