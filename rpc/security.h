// Which peers may connect: what both ends of a connection have to agree on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace corolane::rpc {

// The kind of peers that a listener serves, which decides what they may call and what is trusted.
enum class Door : std::uint8_t {
  // Nodes of the same cluster and equally trusted programs: every method.
  nodes,
  // All other peers, such as players: only methods with the option `public`. A server ignores
  // epochs and call chains from them.
  clients,
};

struct Security {
  // Both ends name the same cluster, so that a test cluster never joins production by mistake.
  // Empty for a server that belongs to no cluster, and its clients.
  std::string cluster = {};

  // When it is not empty, both ends prove that they know it, without sending it, before the first
  // call is read. It keeps strangers out but encrypts nothing: that takes TLS.
  std::string shared_key = {};

  // For a server: accepts only peers with a TLS certificate (net::Stream::peer_identity()).
  bool needs_peer_certificate = false;

  // An eavesdropper on one handshake could brute-force shorter keys.
  static constexpr std::size_t shared_key_bytes_min = 16;
};

}  // namespace corolane::rpc
