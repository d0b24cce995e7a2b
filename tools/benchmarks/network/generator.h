// What puts a load on a server and sees how it answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "coroutine/base/result.h"

namespace corolane::bench {

// Every connection has so many requests under way, always: a reply is followed by the next one.
struct Load {
  std::size_t connection_count = 1;
  std::size_t in_flight = 1;
};

struct LoadOutcome {
  std::uint64_t op_count = 0;
  std::uint64_t refused_count = 0;  // Tried again, and not among the operations.
  std::chrono::nanoseconds elapsed{0};
  std::chrono::nanoseconds p50{0};  // From the sending of a request until its reply was read.
  std::chrono::nanoseconds p99{0};
};

class Generator {
 public:
  virtual ~Generator() = default;

  // Keeps the load up for that long, then takes in the replies that are still to come: before and
  // after, nothing is under way. Fails when a connection ends or a reply is wrong.
  virtual Result<LoadOutcome> run(std::chrono::milliseconds time) = 0;
};

// Connects a generator to a port of 127.0.0.1.
using Connect = std::function<Result<std::unique_ptr<Generator>>(std::uint16_t port)>;

}  // namespace corolane::bench
