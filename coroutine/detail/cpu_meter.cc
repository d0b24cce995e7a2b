// SPDX-License-Identifier: MIT
#include "coroutine/detail/cpu_meter.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/fault_guard.h"

// glibc has the member, but names it only since 2.41.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid  // NOLINT(readability-identifier-naming)
#endif

namespace corolane::coroutine::detail {
namespace {

#if defined(COROLANE_TSAN)
constexpr bool signals_are_prompt = false;
#else
constexpr bool signals_are_prompt = true;
#endif

// After an exception AddressSanitizer unpoisons the locals of all frames below the caller's place
// on the stack. Seen from an alternate stack, those frames still run. Stacks are larger with it, so
// the handler has room on the stack that it interrupts.
#if defined(COROLANE_ASAN)
constexpr int alternate_stack_flag = 0;
#else
constexpr int alternate_stack_flag = SA_ONSTACK;
#endif

constexpr std::uint64_t ns_per_second = 1'000'000'000;

}  // namespace

CpuMeter::CpuMeter(Duration interval, Charge charge, Interrupted interrupted)
    : interval_ns_(static_cast<std::uint64_t>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(interval).count())),
      charge_(charge),
      interrupted_(interrupted) {
  if (!signals_are_prompt || interval_ns_ == 0 || is_running()) return;
  static const bool signal_is_ours = claim_signal();
  if (signal_is_ours && FaultGuard::give_thread_signal_stack() && start_timer()) running_ = this;
}

CpuMeter::~CpuMeter() {
  if (running_ != this) return;
  // A signal that the timer has already sent may still arrive; the handler then does nothing.
  running_ = nullptr;
  timer_delete(timer_);
}

bool CpuMeter::claim_signal() {
  struct sigaction action = {};
  if (sigaction(SIGURG, nullptr, &action) != 0) return false;
  const bool is_free = (action.sa_flags & SA_SIGINFO) == 0 &&
                       (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN);
  if (!is_free) return false;
  action = {};
  action.sa_sigaction = &CpuMeter::handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | alternate_stack_flag;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGURG, &action, nullptr) == 0;
}

void CpuMeter::handle(int /*signal*/, siginfo_t* info, void* context) {
  const CpuMeter* const meter = running_;
  if (meter == nullptr || (info->si_code != SI_TKILL && info->si_code != SI_TIMER)) return;
  const int error_number = errno;
  // While one SIGURG is pending the kernel drops the next: the timer's may stand for a request as
  // well.
  meter->interrupted_(context);
  if (info->si_code == SI_TIMER) {
    meter->charge_((1 + static_cast<std::uint64_t>(info->si_overrun)) * meter->interval_ns_,
                   context);
  }
  errno = error_number;
}

bool CpuMeter::start_timer() {
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGURG;
  event.sigev_notify_thread_id = gettid();
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return false;
  const timespec interval = {.tv_sec = static_cast<time_t>(interval_ns_ / ns_per_second),
                             .tv_nsec = static_cast<long>(interval_ns_ % ns_per_second)};
  const itimerspec times = {.it_interval = interval, .it_value = interval};
  if (timer_settime(timer_, 0, &times, nullptr) == 0) return true;
  timer_delete(timer_);
  return false;
}

}  // namespace corolane::coroutine::detail
