// SPDX-License-Identifier: MIT
#include "net/uv/detail/poller.h"

#include <unistd.h>

#include <algorithm>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

Poller::Poller() : descriptor_(::epoll_create1(EPOLL_CLOEXEC)) {
  check(descriptor_ >= 0, "the process has descriptors left for an event loop");
}

Poller::~Poller() { ::close(descriptor_); }

void Poller::add(int descriptor, void* source) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = source}};
  check(::epoll_ctl(descriptor_, EPOLL_CTL_ADD, descriptor, &event) == 0,
        "the kernel can watch a descriptor that is open");
}

void Poller::remove(int descriptor) {
  ::epoll_ctl(descriptor_, EPOLL_CTL_DEL, descriptor, nullptr);
}

std::span<const epoll_event> Poller::wait(int milliseconds) {
  const int count =
      ::epoll_wait(descriptor_, events_.data(), static_cast<int>(events_.size()), milliseconds);
  return std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
}

}  // namespace corolane::net::detail
