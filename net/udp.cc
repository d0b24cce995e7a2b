// SPDX-License-Identifier: MIT
#include "net/udp.h"

#include "net/detail/socket_address.h"

namespace corolane::net {

Result<UdpPeer> to_udp_peer(const Endpoint& endpoint) {
  if (is_unix(endpoint)) {
    return Error(Code::invalid_argument, to_string(endpoint) + " takes no datagrams");
  }
  auto address = detail::to_socket_address(endpoint);
  if (!address) return address.error();
  return detail::to_udp_peer(*address->get());
}

Endpoint to_endpoint(const UdpPeer& peer) {
  return detail::to_endpoint(detail::socket_address_of(peer));
}

}  // namespace corolane::net
