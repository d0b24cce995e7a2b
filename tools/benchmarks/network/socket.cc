// SPDX-License-Identifier: MIT
// Wraps system calls, and interprets their results.
#include "tools/benchmarks/network/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace corolane::bench {
namespace {

sockaddr_in loopback(std::uint16_t port, std::uint8_t last = 1) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Interprets the result of a call that moved `count` bytes or failed.
Result<std::size_t> moved(ssize_t count, const char* what) {
  if (count > 0) return static_cast<std::size_t>(count);
  if (count == 0) return Error(Code::unavailable, "closed by peer");
  if (errno == EAGAIN || errno == EINTR) return std::size_t{0};
  return system_error(what);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Error system_error(const char* what) {
  return Error(Code::unavailable, std::string(what) + ": " + std::strerror(errno));
}

Result<ListeningSocket> listen_on_loopback() {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.number() < 0) return system_error("socket");
  sockaddr_in address = loopback(0);
  if (bind(listener.number(), generic(address), sizeof address) != 0) return system_error("bind");
  if (listen(listener.number(), 4096) != 0) return system_error("listen");
  socklen_t size = sizeof address;
  getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &size);
  return ListeningSocket{.socket = std::move(listener), .port = ntohs(address.sin_port)};
}

Result<Descriptor> connect_to_loopback(std::uint16_t port, std::uint8_t source) {
  Descriptor connected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connected.number() < 0) return system_error("socket");
  const int on = 1;
  if (source != 1) {
    setsockopt(connected.number(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    const sockaddr_in from = loopback(0, source);
    if (bind(connected.number(), generic(from), sizeof from) != 0) return system_error("bind");
  }
  const sockaddr_in address = loopback(port);
  if (connect(connected.number(), generic(address), sizeof address) != 0) {
    return system_error("connect");
  }
  setsockopt(connected.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(connected.number(), F_SETFL, O_NONBLOCK);
  return connected;
}

Result<std::size_t> read_now(int socket, std::span<std::byte> buffer) {
  return moved(recv(socket, buffer.data(), buffer.size(), 0), "recv");
}

Result<std::size_t> write_now(int socket, std::span<const std::byte> bytes) {
  return moved(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send");
}

}  // namespace corolane::bench
