// Endpoints as the kernel takes them.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "coroutine/base/result.h"
#include "net/endpoint.h"

namespace corolane::net::detail {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Fails with invalid_argument when the address is not numeric.
Result<SocketAddress> to_socket_address(const Endpoint& endpoint);

// Of an IPv4 or IPv6 address; an empty Endpoint for any other.
Endpoint to_endpoint(const sockaddr& address);

}  // namespace corolane::net::detail
