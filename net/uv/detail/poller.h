// SPDX-License-Identifier: MIT
// What an event loop waits for, by epoll: the sockets that it reads, and what libuv watches, as
// one.
//
// libuv asks for up to 1,024 events at a time. Among as many busy sockets, one that was looked at
// has left the cache when it is read, and again when its answer is sent, which takes a fifth of the
// time of a small request. A Poller asks for fewer, and calls whoever reads without libuv between.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <span>

namespace corolane::net::detail {

class Poller {
 public:
  // About as many sockets fit in the cache of a core, with what the kernel keeps for each.
  static constexpr std::size_t event_count_max = 256;

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // From now on wait() reports `source`, as `event.data.ptr`, while there is something to read from
  // the descriptor, or it has broken. `source` stays in place until remove().
  void add(int descriptor, void* source);
  // Events that wait() has returned already may still name it.
  void remove(int descriptor);

  // Blocks the thread until an event comes, but for no longer than that; -1 means for ever. The
  // events are valid until the next call.
  std::span<const epoll_event> wait(int milliseconds);

 private:
  const int descriptor_;
  std::array<epoll_event, event_count_max> events_;
};

}  // namespace corolane::net::detail
