#include "net/detail/socket_address.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

namespace corolane::net::detail {

Result<SocketAddress> to_socket_address(const Endpoint& endpoint) {
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
               "\"" + endpoint.address + "\" is no numeric address such as 127.0.0.1 or ::1");
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

}  // namespace corolane::net::detail
