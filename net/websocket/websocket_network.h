// SPDX-License-Identifier: MIT
// WebSockets that carry a flow of bytes, around the connections of any Network: what is served over
// TCP or TLS is served to browsers as well (RFC 6455).
//
//   net::WebSocketNetwork web(network, {.origins = {"https://game.example"}});
//   rpc::Server server(web, {});
//
// Each write is one binary message, but the borders of messages mean nothing: the peer may cut the
// flow as it likes. With a TlsNetwork below it this is wss.
//
// A server reads the request on the loop's stack, so that neither a slow peer nor an idle
// connection costs a task or a stack. All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"

namespace corolane::net {

namespace detail {
struct WebSocketShared;
}

// Both ends of a Stream behave as they do in the inner network, but
// - the end of one direction is the end of both: a peer that has sent its close frame reads no
// more.
// - a connection that ends without a close frame is broken: it may have been truncated.
// - a peer that breaks a rule of RFC 6455 is told so by a close frame, and has a second to read it.
class WebSocketNetwork final : public Network {
 public:
  struct Options {
    // For a server: the pages that may connect, as "https://game.example"; "*" admits all.
    // Those of its own host are admitted when that is an address or localhost. Clients that are not
    // browsers name no page.
    std::vector<std::string> origins = {};
    // Whether messages of deflate_bytes_min and more are compressed when the peer can as well: see
    // WebSocketUpgradeOptions::deflates.
    bool deflates = false;
    std::size_t deflate_bytes_min = 1024;
    // The largest compressed message that is taken, once inflated: nothing of it is passed on
    // before.
    std::size_t deflated_message_bytes_max = 64 * 1024;
    // For a client: the path, and the query, that it asks for. A server serves each.
    std::string target = "/";
    std::chrono::milliseconds handshake_time_max = std::chrono::seconds(5);
    // See TlsNetwork::Options.
    std::size_t handshake_count_max = 1024;
  };

  // Totals over all listeners and connects.
  struct Statistics {
    std::uint64_t opened_count = 0;  // Handshakes that succeeded,
    std::uint64_t failed_count = 0;  // and those that did not.
    std::string last_failure = {};   // With the peer's address.
  };

  explicit WebSocketNetwork(Network& inner) : WebSocketNetwork(inner, Options{}) {}
  // `inner` outlives the network; the network outlives its streams and listeners.
  WebSocketNetwork(Network& inner, Options options);

  // The listener's accept() returns streams in the order in which their handshakes complete: a slow
  // peer delays no other. Destroying the listener suspends until a task of its own has ended.
  Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                           ListenOptions options = {}) override;

  // Both suspend until the handshake is done, and fail in addition with unavailable when the server
  // answers otherwise.
  Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                          StreamOptions options = {}) override;
  Result<std::unique_ptr<Stream>> connect_by_name(const std::string& name, const Endpoint& endpoint,
                                                  Deadline deadline,
                                                  StreamOptions options) override;

  // Passed through unchanged.
  Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                              UdpOptions options = {}) override;
  Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) override;

  const Statistics& statistics() const;

 private:
  Network& inner_;
  std::shared_ptr<detail::WebSocketShared> shared_;
};

}  // namespace corolane::net
