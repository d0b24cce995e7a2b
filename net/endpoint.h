// SPDX-License-Identifier: MIT
// Where a peer listens: a numeric IPv4 or IPv6 address and a port, or a Unix socket.
//
//     127.0.0.1:8460   [::1]:8460
//     unix:/run/chess.sock   a socket file, by its absolute path
//     unix:@chess            a name in the kernel only ("abstract"), without a file
//
//   auto endpoint = parse_endpoint(argument);
//   if (!endpoint) return endpoint.error();
//   auto listener = network.listen(*endpoint);
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::net {

struct Endpoint {
  // "127.0.0.1", "::1", "unix:/run/chess.sock", "unix:@chess"; never a host name, see
  // Network::resolve(). "unix:" alone is the client of a Unix socket, which has no address.
  std::string address;
  std::uint16_t port = 0;  // 0 to listen on a free port, and for a Unix socket.

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

bool is_unix(const Endpoint& endpoint);
// True for the client of a Unix socket.
bool is_unnamed(const Endpoint& endpoint);

// The form above; parse_endpoint() reads it.
std::string to_string(const Endpoint& endpoint);
std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint);

// A name or an address with its port, before it is resolved.
struct HostPort {
  std::string host;  // Or a Unix socket, as in an Endpoint.
  std::uint16_t port = 0;
};

// Reads "host:port", "[ipv6]:port", "unix:/path" or "unix:@name". Fails with invalid_argument; the
// message shows the right form, or how long the path of a Unix socket may be.
Result<HostPort> parse_host_port(std::string_view text);

// The same for a numeric address or a Unix socket, as an Endpoint.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace corolane::net
