// Counts the system calls that the loop makes and what comes from the heap, and has sendmmsg() fail
// when a test wants that: over loopback it never does.
//
// This executable's own functions of these names come before the C library's. Not under the thread
// sanitizer, which has to see them itself: there all counts stay 0 and nothing fails.
#pragma once

#include <cstdint>

#include "coroutine/testing/sanitizers.h"

namespace corolane::net {

struct SystemCalls {
  std::uint64_t epoll_ctl_count = 0;
  std::uint64_t sendmmsg_count = 0;
  std::uint64_t recvmmsg_count = 0;

  int sendmmsg_error = 0;           // What sendmmsg() fails with;
  unsigned sendmmsg_count_max = 0;  // otherwise how many datagrams it takes; 0: all of them.
};

inline constexpr bool sees_system_calls = !test::under_thread_sanitizer;

// Of this process. A test that changes it changes it back.
SystemCalls& system_calls();

}  // namespace corolane::net
