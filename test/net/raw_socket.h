// A peer that does what no Stream would: it breaks connections, never reads, never accepts.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "net/detail/socket_address.h"
#include "net/endpoint.h"

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

  // On a port of its own that the kernel gives to nobody else; without listen() it refuses.
  Endpoint bind() {
    const auto any = detail::to_socket_address({.address = "127.0.0.1"});
    check(::bind(descriptor_, any->get(), any->size) == 0, "a test can bind to loopback");
    detail::SocketAddress bound;
    ::getsockname(descriptor_, bound.get(), &bound.size);
    return detail::to_endpoint(*bound.get());
  }
  void listen(int backlog) { ::listen(descriptor_, backlog); }

  // To a listener over loopback, which has room for it at once.
  void connect(const Endpoint& endpoint) {
    const auto address = detail::to_socket_address(endpoint);
    check(::connect(descriptor_, address->get(), address->size) == 0, "a listener takes a peer");
  }
  // To a listener that may be full: gives up soon, while the kernel goes on trying.
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

  int release() { return std::exchange(descriptor_, -1); }

  // Ends the connection with a reset instead of an orderly end.
  void reset() {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

// A listener that is full: whoever connects now gets no answer.
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
