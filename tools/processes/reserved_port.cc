// SPDX-License-Identifier: MIT
#include "tools/processes/reserved_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "coroutine/base/check.h"

namespace corolane::test {
namespace {

bool bind(int socket, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

}  // namespace

ReservedPort::ReservedPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  static std::mt19937 random{std::random_device()()};
  // Below the kernel's ephemeral range, and below the ports of tools/chaos.
  std::uniform_int_distribution<std::uint16_t> ports(10'000, 19'999);
  for (int attempt = 0; attempt < 1'000; ++attempt) {
    number_ = ports(random);
    if (!bind(socket_, number_)) continue;
    const int on = 1;
    check(::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0,
          "a reserved port is left to its server");
    return;
  }
  check(false, "one of a thousand ports is free");
}

ReservedPort::~ReservedPort() { ::close(socket_); }

}  // namespace corolane::test
