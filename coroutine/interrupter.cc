// SPDX-License-Identifier: MIT
#include "coroutine/interrupter.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <string_view>

#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/sleeping_thread.h"
#include "coroutine/detail/task_access.h"
#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/unwind.h"
#include "coroutine/stack/fault_guard.h"

namespace corolane::coroutine {

Interrupter::Interrupter() { sem_init(&answered_, /*pshared=*/0, 0); }

Interrupter::~Interrupter() { sem_destroy(&answered_); }

void Interrupter::enter() {
  running_ = detail::Strand::running_place();
  thread_ = gettid();
}

void Interrupter::leave() {
  // An asking thread reads what belongs to this one.
  const std::scoped_lock lock(one_at_a_time_);
  thread_ = 0;
}

std::optional<Interruption> Interrupter::interrupt(Duration patience, InterruptionNote note) {
  const std::scoped_lock lock(one_at_a_time_);
  const pid_t thread = thread_;
  if (thread == 0) return std::nullopt;
  note_ = note;
  const auto asleep = detail::look_at_thread(thread);
  if (!asleep) return ask(thread, patience);
  Interruption answer = describe_sleeper(*asleep);
  // It has woken up meanwhile, and what was read is a mixture.
  if (detail::look_at_thread(thread) != asleep) return ask(thread, patience);
  return answer;
}

std::optional<Interruption> Interrupter::ask(pid_t thread, Duration patience) {
  state_.store(State::asked, std::memory_order_release);
  if (syscall(SYS_tgkill, getpid(), thread, SIGURG) != 0 || !wait_for_answer(patience)) {
    state_ = State::idle;
    return std::nullopt;
  }
  Interruption answer = take_answer();
  state_ = State::idle;
  return answer;
}

Interruption Interrupter::describe_sleeper(const detail::SleepingThread& asleep) {
  // The end of a loop's own stack is unknown: the walk looks at a part.
  std::uintptr_t stack_end = asleep.stack_pointer + 32 * 1024;
  // The thread may wake up at any time, and end the task.
  const detail::RacyReads reads;
  const detail::TaskControl* running = nullptr;
  FaultGuard::run([&] { running = detail::Strand::running_task_of(running_); });
  const detail::TaskAccess::Borrowed borrowed(running);
  FaultGuard::run([&] {
    describe(running);
    if (running != nullptr) stack_end = reinterpret_cast<std::uintptr_t>(running->stack_top);
  });
  depth_ = detail::unwind_sleeping(asleep.instruction, asleep.stack_pointer, stack_end, addresses_);
  Interruption answer = take_answer();
  answer.asleep_in = to_text(asleep);
  return answer;
}

bool Interrupter::wait_for_answer(Duration patience) {
  // sem_timedwait() uses the time of day.
  const auto until = std::chrono::system_clock::now() + patience;
  const auto whole = std::chrono::floor<std::chrono::seconds>(until);
  const timespec time = {
      .tv_sec = static_cast<time_t>(whole.time_since_epoch().count()),
      .tv_nsec = static_cast<long>(
          std::chrono::duration_cast<std::chrono::nanoseconds>(until - whole).count())};
  while (sem_timedwait(&answered_, &time) != 0) {
    if (errno == EINTR) continue;
    // A handler that has begun to answer still writes to this object: wait for it.
    State expected = State::asked;
    if (state_.compare_exchange_strong(expected, State::idle)) return false;
    while (sem_wait(&answered_) != 0) {
    }
    return true;
  }
  return true;
}

Interruption Interrupter::take_answer() const {
  return {
      .task = task_,
      .task_name = std::string(name_.data(), name_size_),
      .site = site_,
      .note = std::string(noted_.data(), noted_size_),
      .trace = {{addresses_.begin(), addresses_.begin() + static_cast<std::ptrdiff_t>(depth_)}}};
}

void Interrupter::answer(const void* context, const detail::TaskControl* running) {
  State expected = State::asked;
  if (!state_.compare_exchange_strong(expected, State::answering, std::memory_order_acquire)) {
    return;
  }
  describe(running);
  depth_ = detail::unwind_interrupted(context, addresses_);
  state_.store(State::answered, std::memory_order_release);
  sem_post(&answered_);
}

void Interrupter::describe(const detail::TaskControl* running) {
  task_ = 0;
  name_size_ = noted_size_ = 0;
  if (running != nullptr) {
    task_ = running->top().id;
    site_ = running->top().site;
    const std::string_view name = running->name();
    name_size_ = std::min(name.size(), name_.size());
    std::copy_n(name.begin(), name_size_, name_.begin());
    if (note_ != nullptr) noted_size_ = std::min(note_(noted_), noted_.size());
  }
}

}  // namespace corolane::coroutine
