// SPDX-License-Identifier: MIT
// Endpoints in the kernel's format.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "coroutine/base/result.h"
#include "net/endpoint.h"
#include "net/udp.h"

namespace corolane::net::detail {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof(sockaddr_storage);

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Fails with invalid_argument when the address is neither numeric nor a Unix socket, or when the
// path of a Unix socket is too long.
Result<SocketAddress> to_socket_address(const Endpoint& endpoint);

// Returns an empty Endpoint for other address families.
Endpoint to_endpoint(const SocketAddress& address);
// The same for IPv4 and IPv6 only.
Endpoint to_endpoint(const sockaddr& address);

// The compact forms for UDP, without the detour over text.
SocketAddress socket_address_of(const UdpPeer& peer);
UdpPeer to_udp_peer(const sockaddr& address);

}  // namespace corolane::net::detail
