// Where a peer listens: a numeric IPv4 or IPv6 address and a port.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::net {

struct Endpoint {
  std::string address;     // "127.0.0.1", "::1"; no name: see Network::resolve().
  std::uint16_t port = 0;  // 0 to listen on a free one.

  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

// "127.0.0.1:8460", "[::1]:8460".
std::string to_string(const Endpoint& endpoint);
std::ostream& operator<<(std::ostream& out, const Endpoint& endpoint);

// A name or an address with its port, before it is resolved.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};

// Reads "host:port" or "[ipv6]:port". Fails with invalid_argument that shows the right form.
Result<HostPort> parse_host_port(std::string_view text);

// The same for a numeric address, as an Endpoint.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace corolane::net
