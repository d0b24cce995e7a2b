// SPDX-License-Identifier: MIT
// One port for several protocols: the first bytes of a connection say which of them it speaks.
//
//   net::OnePort port(network, connections,
//                     {{.name = "tls", .match = net::match_tls, .refusal = net::refusal_by_tls()},
//                      {.name = "http", .match = net::match_http}});
//   net::TlsNetwork secure(port.network("tls"), context);
//   auto encrypted = secure.listen(endpoint);  // Both listen on the same port.
//   auto plain = port.network("http").listen((*encrypted)->local_endpoint());
//
// Each kind of connection has a network of its own, which looks like any other: servers need to
// know nothing of the rest. They get the stream of the inner network itself, from its first byte
// on, so that nothing stands between it and them later.
//
// A connection is undecided until its first bytes have come, which are read on the loop's stack: a
// silent peer costs no coroutine, and only a limited time.
//
// All of it belongs to one scheduler's thread, except the bound.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/connection_bound.h"
#include "net/network.h"
#include "net/one_port/first_bytes.h"

namespace corolane::net {

class OnePort {
 public:
  struct Kind {
    std::string name = {};
    // Says `maybe` only for beginnings of what it may say `yes` to.
    std::function<Match(std::span<const std::byte> first_bytes)> match = {};
    // The last bytes to a peer of this kind where no server listens for it.
    std::string refusal = {};
    // The most bytes that it needs to say yes or no.
    std::size_t first_bytes_max = 32;
  };

  struct Options {
    // A peer that has not said enough by then is closed; so is a browser's connection in reserve.
    std::chrono::milliseconds first_bytes_time_max = std::chrono::seconds(5);
    // Hears of each connection that is refused because nobody listens for its kind, on the loop's
    // stack: must not suspend.
    std::function<void(const Kind& kind, const Endpoint& peer)> on_refused = {};
  };

  // Totals over all ports.
  struct Statistics {
    struct OfKind {
      std::string name;
      std::uint64_t accepted_count = 0;
      std::uint64_t refused_count = 0;  // Nobody listened for it.
    };
    std::vector<OfKind> kinds;
    std::size_t undecided_count = 0;    // Now, and those that are just being refused.
    std::uint64_t unknown_count = 0;    // Closed, because no kind begins like that,
    std::uint64_t silent_count = 0;     // because they said too little in time, or left,
    std::uint64_t placeless_count = 0;  // or because too many had no place in the bound.
  };

  // The first kind whose match is `yes` gets the connection, once all kinds before it say `no`.
  // While it is undecided, and until a server has accepted it, a connection has a place in
  // `connections`. When that is full some are let in all the same, so that their server can tell
  // them why they are refused. `inner` and `connections` outlive it.
  OnePort(Network& inner, ConnectionBound& connections, std::vector<Kind> kinds)
      : OnePort(inner, connections, std::move(kinds), Options{}) {}
  OnePort(Network& inner, ConnectionBound& connections, std::vector<Kind> kinds, Options options);
  // Its listeners are destroyed before.
  ~OnePort();
  OnePort(const OnePort&) = delete;
  OnePort& operator=(const OnePort&) = delete;

  // The network for connections of the kind of that name, which must exist; lives as long as this.
  //
  // The first listen() opens the port, with its options. Those for other kinds on the same
  // endpoint, with the actual port, join it, and take its options. The last close() closes the
  // port, and undecided connections. Destroying a listener may suspend until a task of its own has
  // ended; a process without descriptors delays accept(), which does not fail for that. Everything
  // else is passed to the inner network.
  Network& network(std::string_view kind);

  const Statistics& statistics() const;

 private:
  class KindNetwork;
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
