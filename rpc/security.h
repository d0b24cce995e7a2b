// Who may talk to whom: what both ends of a connection have to agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace corolane::rpc {

// Which peers a listener is for, and so what they may do and what is believed of them.
enum class Door : std::uint8_t {
  // Nodes of the own cluster and programs that are trusted like them: every method.
  nodes,
  // Everybody else, such as players: methods with the option `public` alone. A server takes no
  // epochs and no call chains from them.
  clients,
};

struct Security {
  // Both ends name the same one, so that a test cluster never joins production by mistake. Empty
  // for a server that belongs to none, and its clients.
  std::string cluster = {};

  // When it is not empty both ends prove that they have it, without sending it, before the first
  // call is looked at. It keeps strangers out; it hides nothing: that takes TLS.
  std::string shared_key = {};

  // Of a server: takes only peers that TLS knows by a certificate (net::Stream::peer_identity()).
  bool needs_peer_certificate = false;

  // Shorter keys could be found by trying, by whoever has seen one handshake.
  static constexpr std::size_t shared_key_bytes_min = 16;
};

}  // namespace corolane::rpc
