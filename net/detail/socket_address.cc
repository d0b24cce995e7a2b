// SPDX-License-Identifier: MIT
#include "net/detail/socket_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace corolane::net::detail {
namespace {

constexpr std::string_view unix_prefix = "unix:";

// A path ends with a zero byte; an abstract name begins with one, and its length is in the size.
Result<SocketAddress> to_unix_address(const std::string& text) {
  const std::string_view name = std::string_view(text).substr(unix_prefix.size());
  const bool is_abstract = name.starts_with('@');
  if (name.size() < 2 || !(is_abstract || name.starts_with('/')) || name.contains('\0')) {
    return Error(Code::invalid_argument, "\"" + text +
                                             "\" is not a Unix socket: write an absolute path, "
                                             "\"unix:/run/name.sock\", or \"unix:@name\"");
  }
  sockaddr_un local{};
  constexpr std::size_t size_max = sizeof(local.sun_path) - 1;
  if (name.size() > size_max) {
    return Error(Code::invalid_argument,
                 "\"" + text + "\" is too long for a Unix socket: " + std::to_string(name.size()) +
                     " bytes, at most " + std::to_string(size_max));
  }
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, name.data(), name.size());
  if (is_abstract) local.sun_path[0] = '\0';
  SocketAddress address;
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 0 : 1));
  std::memcpy(&address.storage, &local, address.size);
  return address;
}

Endpoint to_unix_endpoint(const SocketAddress& address) {
  const auto* const local = reinterpret_cast<const sockaddr_un*>(address.get());
  const std::size_t size = address.size - offsetof(sockaddr_un, sun_path);
  Endpoint endpoint{.address = std::string(unix_prefix)};
  if (size == 0) return endpoint;
  if (local->sun_path[0] == '\0') {
    endpoint.address.append("@").append(local->sun_path + 1, size - 1);
  } else {
    endpoint.address.append(local->sun_path, ::strnlen(local->sun_path, size));
  }
  return endpoint;
}

}  // namespace

Result<SocketAddress> to_socket_address(const Endpoint& endpoint) {
  if (is_unix(endpoint)) return to_unix_address(endpoint.address);
  SocketAddress address;
  sockaddr_in v4{};
  if (inet_pton(AF_INET, endpoint.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(endpoint.port);
    address.size = sizeof(v4);
    std::memcpy(&address.storage, &v4, sizeof(v4));
    return address;
  }
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, endpoint.address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    address.size = sizeof(v6);
    std::memcpy(&address.storage, &v6, sizeof(v6));
    return address;
  }
  return Error(Code::invalid_argument,
               "\"" + endpoint.address + "\" is not a numeric address such as 127.0.0.1 or ::1");
}

Endpoint to_endpoint(const SocketAddress& address) {
  if (address.get()->sa_family == AF_UNIX) return to_unix_endpoint(address);
  return to_endpoint(*address.get());
}

Endpoint to_endpoint(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {.address = text.data(), .port = ntohs(v4.sin_port)};
  }
  if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return {.address = text.data(), .port = ntohs(v6.sin6_port)};
  }
  return {};
}

SocketAddress socket_address_of(const UdpPeer& peer) {
  SocketAddress address;
  if (peer.is_ipv6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(peer.port);
    v6.sin6_scope_id = peer.scope_id;
    std::memcpy(&v6.sin6_addr, peer.address.data(), sizeof(v6.sin6_addr));
    address.size = sizeof(v6);
    std::memcpy(&address.storage, &v6, sizeof(v6));
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(peer.port);
    std::memcpy(&v4.sin_addr, peer.address.data(), sizeof(v4.sin_addr));
    address.size = sizeof(v4);
    std::memcpy(&address.storage, &v4, sizeof(v4));
  }
  return address;
}

UdpPeer to_udp_peer(const sockaddr& address) {
  UdpPeer peer;
  if (address.sa_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(peer.address.data(), &v4.sin_addr, sizeof(v4.sin_addr));
    peer.port = ntohs(v4.sin_port);
  } else if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(peer.address.data(), &v6.sin6_addr, sizeof(v6.sin6_addr));
    peer.port = ntohs(v6.sin6_port);
    peer.scope_id = v6.sin6_scope_id;
    peer.is_ipv6 = true;
  }
  return peer;
}

}  // namespace corolane::net::detail
