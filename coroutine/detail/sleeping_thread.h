// SPDX-License-Identifier: MIT
// What a thread of this process waits for in the kernel, for watchdogs.
//
//   if (const auto asleep = look_at_thread(thread)) std::cout << to_text(*asleep) << '\n';
//
// A signal would end the wait early: nanosleep(), poll() and connect() return EINTR to the library
// that called them. /proc tells the same, and the thread does not notice.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace corolane::coroutine::detail {

struct SleepingThread {
  bool operator==(const SleepingThread&) const = default;

  long system_call = -1;  // -1: a page fault, for example.
  std::uintptr_t instruction = 0;
  std::uintptr_t stack_pointer = 0;
  // The kernel's function that waits, such as "hrtimer_nanosleep"; empty where it is kept secret.
  std::string wait_channel = {};
};

// Nothing while the thread, another one, computes or waits for a processor; nor where the kernel
// does not tell, or tells of an emulator. Blocks for the reading of two small files.
std::optional<SleepingThread> look_at_thread(pid_t thread);

// "clock_nanosleep", or "poll (do_sys_poll)".
std::string to_text(const SleepingThread& asleep);

}  // namespace corolane::coroutine::detail
