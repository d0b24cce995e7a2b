// SPDX-License-Identifier: MIT
// Counts the system calls of the loop and the allocations, makes sendmmsg() fail when a test wants
// that, because over loopback it never does, and delays threads that wake a loop.
//
// This executable's own functions of these names precede the C library's. Disabled under the thread
// sanitizer, which has to intercept them itself: there all counts stay 0 and nothing fails.
#pragma once

#include <cstdint>
#include <functional>

#include "coroutine/testing/sanitizers.h"

namespace corolane::net {

struct SystemCalls {
  std::uint64_t epoll_ctl_count = 0;
  std::uint64_t epoll_event_count = 0;  // All events that loops were given.
  std::uint64_t sendmmsg_count = 0;
  std::uint64_t recvmmsg_count = 0;

  int sendmmsg_error = 0;           // The error of sendmmsg();
  unsigned sendmmsg_count_max = 0;  // otherwise the most datagrams it takes; 0: all of them.

  std::function<void()> before_eventfd_write;  // On the thread that writes.
};

inline constexpr bool sees_system_calls = !test::under_thread_sanitizer;

// The counts of this process. A test that changes it restores it.
SystemCalls& system_calls();

}  // namespace corolane::net
