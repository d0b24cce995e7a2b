// SPDX-License-Identifier: MIT
// Puts a load on a server and measures its answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "coroutine/base/result.h"

namespace corolane::bench {

// Every connection always has `in_flight` requests in flight: each reply triggers the next request.
struct Load {
  std::size_t connection_count = 1;
  std::size_t in_flight = 1;
};

struct LoadOutcome {
  std::uint64_t op_count = 0;
  std::uint64_t refused_count = 0;  // Retried, and not among the operations.
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds p50{0};  // From the sending of a request until its reply was read.
  std::chrono::nanoseconds p99{0};
};

class Generator {
 public:
  virtual ~Generator() = default;

  // Keeps up the load for `time`, then reads the outstanding replies: nothing is in flight before
  // and after. Fails when a connection ends or a reply is wrong.
  virtual Result<LoadOutcome> run(std::chrono::milliseconds time) = 0;
};

// Connects a generator to a port of 127.0.0.1.
using Connect = std::function<Result<std::unique_ptr<Generator>>(std::uint16_t port)>;

}  // namespace corolane::bench
