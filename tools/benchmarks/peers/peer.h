// SPDX-License-Identifier: MIT
// The interface of contestants written in C++: a function for each operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/benchmarks/measurement.h"

namespace corolane::bench {

struct Ring {
  std::size_t count = 1;
  std::size_t stack_size_bytes = 64 * 1024;
  bool random = false;  // Resumed in a fixed random order instead of the order of creation.
};

enum class Warmth : std::uint8_t { cold, warm };

enum class TimerStep : std::uint8_t { arm, cancel_random, fire, idle_turn };

// A function is null where the contestant has no such operation. The rows in coroutine_rows.cc
// describe the operations.
struct Peer {
  const char* name;
  Result<Measurement> (*yield)(Ring ring) = nullptr;
  Result<Measurement> (*create)(std::size_t count, Warmth warmth) = nullptr;
  Result<Measurement> (*memory)(std::size_t count) = nullptr;
  Result<Measurement> (*spawn_join)() = nullptr;
  Result<Measurement> (*pingpong)() = nullptr;
  Result<Measurement> (*await)() = nullptr;
  Result<Measurement> (*for_each)() = nullptr;
  Result<Measurement> (*timer)(TimerStep step) = nullptr;
};

extern const Peer fcontext_peer;
extern const Peer fcontext_tuned_peer;
extern const Peer fcontext_direct_peer;
extern const Peer ucontext_peer;
extern const Peer cpp20_peer;
extern const Peer boost_fiber_peer;  // Defined only if the build found Boost.Fiber.

// Returns the C++ peers of this build.
std::vector<const Peer*> cpp_peers();

}  // namespace corolane::bench
