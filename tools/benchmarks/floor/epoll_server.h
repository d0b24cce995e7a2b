// The least that a server can do: raw epoll, one read and one write per readiness, no timers, no
// limits, no tasks. What the rows of tools/bench net and tools/bench rpc are measured against.
#pragma once

#include <cstddef>
#include <span>

#include "tools/benchmarks/network/server_process.h"

namespace corolane::bench {

// What to make of the bytes that a connection brings.
class Answerer {
 public:
  struct Answer {
    std::size_t taken_count;            // Bytes of the input; the rest comes again, with more.
    std::span<const std::byte> output;  // Valid until the next call.
  };

  virtual ~Answerer() = default;
  virtual Answer answer(std::span<const std::byte> input) = 0;
  // Sent to each new connection.
  virtual std::span<const std::byte> greeting() const { return {}; }
};

Error serve_by_epoll(Answerer& answerer);

// Sends back what comes.
Error serve_echo_floor(const Seat& seat);
// corolane.bench.Echo in the frames of rpc/wire/frame.h, with messages on an arena.
Error serve_rpc_floor(const Seat& seat);

}  // namespace corolane::bench
