// SPDX-License-Identifier: MIT
// Says what a ChaosProxy does to the connections that pass through it.
//
//   const ChaosPlan plan = {.reset_one_in = 4,
//                           .to_client = {.delay = 20ms, .jitter = 10ms, .slice_bytes_max = 100}};
//
// Every fault is off by default: a test enables the faults that it is about, or takes a random mix.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/testing/random.h"

namespace corolane::test {

// One direction of a connection.
enum class ChaosDirection : std::uint8_t { to_target, to_client };

// A fault strikes a connection at one byte of one direction, also in the middle of a frame.
enum class ChaosFault : std::uint8_t {
  reset,       // Breaks the connection; both ends notice.
  close,       // Ends the connection in an orderly way for both ends.
  half_close,  // The receiver of this direction sees its end; the other direction stays open.
  drop,        // The rest of this direction vanishes, including its end, without an error.
  hang,        // This direction stalls, and its sender feels the backpressure.
};

std::string_view to_string(ChaosDirection direction);
std::string_view to_string(ChaosFault fault);

struct ChaosPlan {
  // One connection, or one slice, in this many; 0 is none.
  using OneIn = std::uint32_t;

  // How the bytes of one direction travel: in slices, always in order.
  struct Lane {
    Duration delay{};                  // Applies to every byte.
    Duration jitter{};                 // The largest extra delay, drawn for each slice.
    std::size_t slice_bytes_max = 0;   // Slices have 1 to this many bytes; 0: no slicing.
    std::size_t bytes_per_second = 0;  // 0 is unlimited.
    OneIn pause_one_in = 0;            // Slices that wait for up to `pause_max`.
    Duration pause_max = std::chrono::seconds(1);
    // Slices that wait until later bytes of another connection have passed, or for `overtaking_max`
    // when there are none.
    OneIn overtake_one_in = 0;
    Duration overtaking_max = std::chrono::milliseconds(100);
  };

  // At most one per connection, after 0 to `fault_bytes_max` bytes of a random direction.
  OneIn reset_one_in = 0;
  OneIn close_one_in = 0;
  OneIn half_close_one_in = 0;
  OneIn drop_one_in = 0;
  OneIn hang_one_in = 0;
  std::size_t fault_bytes_max = 4096;

  OneIn refuse_one_in = 0;       // Connections that are refused as soon as they are accepted.
  Duration connect_delay_max{};  // The longest wait before the proxy connects on.

  Lane to_target = {};
  Lane to_client = {};

  const Lane& lane(ChaosDirection direction) const {
    return direction == ChaosDirection::to_target ? to_target : to_client;
  }

  // A mix of some of them that lets a good part of the connections through.
  static ChaosPlan random(Random& random);
};

// The faults that a plan has drawn for one connection.
struct ChaosFate {
  bool refused = false;
  Duration connect_delay{};
  std::optional<ChaosFault> fault;
  ChaosDirection direction = ChaosDirection::to_target;  // The direction of the fault.
  std::uint64_t fault_at = 0;                            // The number of bytes that pass before it.

  static ChaosFate draw(const ChaosPlan& plan, Random& random);
};

}  // namespace corolane::test
