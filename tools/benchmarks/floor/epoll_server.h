// SPDX-License-Identifier: MIT
// A minimal server: raw epoll, one read and one write per readiness, no timers, no limits, no
// tasks. It is the limit of the rows of tools/bench net, rpc and edge.
#pragma once

#include <cstddef>
#include <span>

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// Answers the bytes that arrive on a connection.
class Answerer {
 public:
  struct Answer {
    std::size_t taken_count;            // Bytes of the input; the rest is passed again, with more.
    std::span<const std::byte> output;  // Valid until the next call.
    bool is_for_all = false;            // The output goes to all connections.
  };

  virtual ~Answerer() = default;
  virtual Answer answer(std::span<const std::byte> input) = 0;
  // Sent to each new connection.
  virtual std::span<const std::byte> greeting() const { return {}; }
};

Error serve_by_epoll(Answerer& answerer);

// Echoes all bytes.
Error serve_echo_floor(const Seat& seat);
// Echoes the messages of WebSockets, by the bare codec.
Error serve_websocket_floor(const Seat& seat);
// A WebSocket server that writes one ready frame to all connections when it gets a message of
// publication_bytes (network/talk.h). It reads other messages.
Error serve_publishing_floor(const Seat& seat);
// Serves corolane.bench.Echo in the frames of rpc/wire/frame.h, with messages on an arena.
Error serve_rpc_floor(const Seat& seat);

}  // namespace corolane::bench
