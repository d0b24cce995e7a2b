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

#include "coroutine/detail/task_control.h"
#include "coroutine/stack/detail/unwind.h"

namespace corolane::coroutine {

Interrupter::Interrupter() { sem_init(&answered_, /*pshared=*/0, 0); }

Interrupter::~Interrupter() { sem_destroy(&answered_); }

void Interrupter::enter() { thread_ = gettid(); }

void Interrupter::leave() { thread_ = 0; }

std::optional<Interruption> Interrupter::interrupt(Duration patience, InterruptionNote note) {
  const std::scoped_lock lock(one_at_a_time_);
  const pid_t thread = thread_;
  if (thread == 0) return std::nullopt;
  note_ = note;
  state_.store(State::asked, std::memory_order_release);
  if (syscall(SYS_tgkill, getpid(), thread, SIGURG) != 0 || !wait_for_answer(patience)) {
    state_ = State::idle;
    return std::nullopt;
  }
  Interruption answer = take_answer();
  state_ = State::idle;
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
  depth_ = detail::unwind_interrupted(context, addresses_);
  state_.store(State::answered, std::memory_order_release);
  sem_post(&answered_);
}

}  // namespace corolane::coroutine
