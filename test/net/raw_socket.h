// SPDX-License-Identifier: MIT
// A peer that misbehaves as no Stream would: it breaks connections, never reads, never accepts.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/detail/socket_address.h"
#include "net/endpoint.h"
#include "net/stream.h"

namespace corolane::net {

class RawSocket {
 public:
  RawSocket() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    check(descriptor_ >= 0, "a test has descriptors left");
  }
  explicit RawSocket(int descriptor) : descriptor_(descriptor) {}
  ~RawSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  // Binds to a port that the kernel assigns to no other socket; without listen() it refuses.
  Endpoint bind() {
    const auto any = detail::to_socket_address({.address = "127.0.0.1"});
    check(::bind(descriptor_, any->get(), any->size) == 0, "a test can bind to loopback");
    detail::SocketAddress bound;
    ::getsockname(descriptor_, bound.get(), &bound.size);
    return detail::to_endpoint(bound);
  }
  void bind_to(const Endpoint& endpoint) {
    const auto address = detail::to_socket_address(endpoint);
    check(::bind(descriptor_, address->get(), address->size) == 0, "the address is free");
  }
  void listen(int backlog) { ::listen(descriptor_, backlog); }

  // Connects to a loopback listener that has room for it.
  void connect(const Endpoint& endpoint) {
    const auto address = detail::to_socket_address(endpoint);
    check(::connect(descriptor_, address->get(), address->size) == 0, "a listener takes a peer");
  }
  // Connects to a listener that may be full: gives up soon, while the kernel keeps trying.
  void start_connect(const Endpoint& endpoint) {
    const auto address = detail::to_socket_address(endpoint);
    const timeval patience{.tv_sec = 0, .tv_usec = 1000};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    const bool connected = ::connect(descriptor_, address->get(), address->size) == 0;
    static_cast<void>(connected);
  }

  void send(std::string_view text) {
    check(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(text.size()),
          "a small text fits into the socket");
  }

  // Reads at most `count_max` of the available bytes; 0 when there are none.
  std::size_t receive(std::size_t count_max) {
    std::vector<std::byte> buffer(count_max);
    const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    check(count > 0 || (count < 0 && errno == EAGAIN), "a peer that is there can be read from");
    return count < 0 ? 0 : static_cast<std::size_t>(count);
  }

  void set_option(int level, int option, int value) {
    check(::setsockopt(descriptor_, level, option, &value, sizeof(value)) == 0,
          "a socket has the option");
  }

  int descriptor() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

  // Ends the connection with a reset instead of an orderly shutdown.
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

// The descriptor behind a TCP stream of this process, for queries to the kernel.
inline int descriptor_of(const Stream& stream) {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    detail::SocketAddress local;
    detail::SocketAddress peer;
    if (::getsockname(descriptor, local.get(), &local.size) == 0 &&
        ::getpeername(descriptor, peer.get(), &peer.size) == 0 &&
        detail::to_endpoint(local) == stream.local_endpoint() &&
        detail::to_endpoint(peer) == stream.peer_endpoint()) {
      return descriptor;
    }
  }
  check(false, "an open stream has a descriptor");
  return -1;
}

inline int socket_option(int descriptor, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  check(::getsockopt(descriptor, level, option, &value, &size) == 0, "the socket has the option");
  return value;
}

// A full listener: further connects get no answer.
struct SilentPeer {
  SilentPeer() : endpoint(listener.bind()) {
    listener.listen(0);
    for (RawSocket& socket : queued) socket.start_connect(endpoint);
  }
  RawSocket listener;
  Endpoint endpoint;
  std::array<RawSocket, 3> queued;
};

}  // namespace corolane::net
