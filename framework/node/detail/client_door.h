// SPDX-License-Identifier: MIT
// The door for clients, on one port: frames, as such or by WebSocket, and HTTP; inside of TLS when
// the configuration names its files. A client that speaks something else than the port does is told
// so in its own protocol.
//
//   ClientDoor door(network, connections, log);
//   if (auto opened = door.open(tls_files); !opened) return opened;
//   server.listen(endpoint, {.network = &door.frames()});
//
// Belongs to one scheduler's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "framework/node/detail/door_network.h"
#include "net/connection_bound.h"
#include "net/one_port/one_port.h"
#include "net/tls/tls.h"
#include "net/websocket/websocket_network.h"

namespace corolane::framework {
class Log;
}

namespace corolane::framework::detail {

class ClientDoor {
 public:
  // All outlive it. Connections have places in `connections` until their first bytes have come.
  ClientDoor(net::Network& network, net::ConnectionBound& connections, Log& log)
      : network_(network), connections_(connections), log_(log) {}

  // Call it once, before everything else. Fails as net::TlsContext::load().
  Result<void> open(const net::TlsOptions& files, net::WebSocketNetwork::Options websockets);

  // The networks to listen on, for servers of frames and of HTTP, which may share a port.
  net::Network& frames() { return front().network("frames"); }
  net::Network& websockets() { return *websockets_; }
  net::Network& http() { return front().network("http"); }

  // See DoorNetwork.
  Result<void> prepare_change() { return tls_->prepare_change(); }
  void change() { tls_->change(); }

  // Before open() zeros. Connections inside of TLS count twice: as TLS, and as what they are.
  net::OnePort::Statistics statistics() const;

 private:
  net::OnePort& front() { return inside_ == nullptr ? *outside_ : *inside_; }
  std::unique_ptr<net::OnePort> make_port(net::Network& inner,
                                          std::vector<net::OnePort::Kind> kinds);
  void note_refused(const net::OnePort::Kind& kind, const net::Endpoint& peer);

  net::Network& network_;
  net::ConnectionBound& connections_;
  Log& log_;
  std::unique_ptr<net::OnePort> outside_;
  std::unique_ptr<DoorNetwork> tls_;
  std::unique_ptr<net::OnePort> inside_;  // Null without TLS.
  std::unique_ptr<net::WebSocketNetwork> websockets_;
  std::uint64_t unlogged_count_ = 0;  // Refused since the last line in the log.
  TimePoint next_line_{};
};

}  // namespace corolane::framework::detail
