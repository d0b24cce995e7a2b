// SPDX-License-Identifier: MIT
// Interposes functions of the C library for the calls that tests count.
#include "test/net/system_calls.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace corolane::net {

SystemCalls& system_calls() {
  static SystemCalls calls;
  return calls;
}

}  // namespace corolane::net

#if !defined(__SANITIZE_THREAD__) && !defined(COROLANE_TSAN)

using corolane::net::system_calls;

extern "C" {

int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
  ++system_calls().epoll_ctl_count;
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, descriptor, event));
}

int epoll_pwait(int epoll, epoll_event* events, int count_max, int timeout, const sigset_t* mask) {
  const auto count = ::syscall(SYS_epoll_pwait, epoll, events, count_max, timeout, mask, 8);
  if (count > 0) system_calls().epoll_event_count += static_cast<std::uint64_t>(count);
  return static_cast<int>(count);
}

int epoll_wait(int epoll, epoll_event* events, int count_max, int timeout) {
  return epoll_pwait(epoll, events, count_max, timeout, nullptr);
}

int eventfd_write(int descriptor, eventfd_t value) {
  if (const auto& before = system_calls().before_eventfd_write) before();
  return ::write(descriptor, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

int sendmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags) {
  auto& calls = system_calls();
  ++calls.sendmmsg_count;
  if (calls.sendmmsg_error != 0) {
    errno = calls.sendmmsg_error;
    return -1;
  }
  if (calls.sendmmsg_count_max > 0) count = std::min(count, calls.sendmmsg_count_max);
  return static_cast<int>(::syscall(SYS_sendmmsg, descriptor, messages, count, flags));
}

int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  ++system_calls().recvmmsg_count;
  return static_cast<int>(::syscall(SYS_recvmmsg, descriptor, messages, count, flags, timeout));
}

}  // extern "C"

#endif
