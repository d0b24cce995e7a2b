// SPDX-License-Identifier: MIT
// Asks a thread what it is doing, for watchdogs of loops that stop turning: see
// Scheduler::interrupt().
//
// A thread that sleeps in the kernel is left alone, since a signal would end its system call early:
// the asking thread reads its registers from /proc, and its stack. A thread that computes gets the
// signal of its CpuMeter: the handler, which must not allocate, records the answer, and the asking
// thread reads it.
//
//   if (auto busy = scheduler.interrupt(50ms)) std::cout << busy->task_name << '\n';
#pragma once

#include <semaphore.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/detail/running_place.h"
#include "coroutine/task_info.h"

namespace corolane::coroutine {
namespace detail {
struct SleepingThread;
struct TaskControl;
}  // namespace detail

struct Interruption {
  TaskId task = 0;  // 0: none, the loop itself was at work; then there is no name and no site.
  std::string task_name = {};
  std::source_location site = {};  // Where it was spawned.
  std::string note = {};           // By InterruptionNote.
  // The system call in which the thread sleeps, such as "clock_nanosleep"; empty: it computes.
  std::string asleep_in = {};
  StackTrace trace = {};  // The innermost frame is where it was interrupted, or sleeps.
};

// Describes the work of the task: writes a text to `room` and returns its size. Runs in a signal
// handler of the interrupted thread: may read what belongs to the running task, and must neither
// allocate nor lock. While the thread sleeps it runs on the asking thread, for which the task then
// counts as the running one; a fault ends it.
using InterruptionNote = std::size_t (*)(std::span<char> room);

class Interrupter {
 public:
  Interrupter();
  ~Interrupter();
  Interrupter(const Interrupter&) = delete;
  Interrupter& operator=(const Interrupter&) = delete;

  // Makes the calling thread interruptible until leave().
  void enter();
  void leave();

  // Called by another thread; concurrent calls take turns. Nothing when there is no thread to
  // interrupt, or when it does not reach its handler within `patience`.
  std::optional<Interruption> interrupt(Duration patience, InterruptionNote note);

  // Called in the handler. `context` is its third argument; `running` may be null.
  void answer(const void* context, const detail::TaskControl* running);

 private:
  enum class State : std::uint8_t { idle, asked, answering, answered };

  std::optional<Interruption> ask(pid_t thread, Duration patience);
  Interruption describe_sleeper(const detail::SleepingThread& asleep);
  bool wait_for_answer(Duration patience);
  Interruption take_answer() const;
  void describe(const detail::TaskControl* running);

  std::mutex one_at_a_time_;
  std::atomic<pid_t> thread_ = 0;  // 0: no thread to interrupt.
  detail::RunningPlace running_;   // Where that thread keeps its task.
  std::atomic<State> state_ = State::idle;
  sem_t answered_;
  InterruptionNote note_ = nullptr;
  // The answer.
  TaskId task_ = 0;
  std::source_location site_;
  std::array<char, 32> name_{};
  std::size_t name_size_ = 0;
  std::array<char, 256> noted_{};
  std::size_t noted_size_ = 0;
  std::array<std::uintptr_t, StackTrace::depth_max> addresses_{};
  std::size_t depth_ = 0;
};

}  // namespace corolane::coroutine
