// What a ChaosProxy does to the connections that go through it.
//
// Every fault is off by default: a test turns on what it is about, or takes a random mix.
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

// What can happen to a connection, at a byte of one direction: in the middle of a frame, too.
enum class ChaosFault : std::uint8_t {
  reset,       // It breaks; both ends are told so.
  close,       // Both ends see an orderly end.
  half_close,  // The receiver of this direction sees its end; the other direction goes on.
  drop,        // The rest of this direction vanishes, its end included; nobody is told.
  hang,        // Nothing of this direction moves any more, and its sender feels that.
};

std::string_view to_string(ChaosDirection direction);
std::string_view to_string(ChaosFault fault);

struct ChaosPlan {
  // One connection, or one slice, in so many; 0 is none.
  using OneIn = std::uint32_t;

  // How the bytes of one direction travel: in slices, always in their order.
  struct Lane {
    Duration delay{};                  // Of every byte.
    Duration jitter{};                 // Up to so much more, drawn for each slice.
    std::size_t slice_bytes_max = 0;   // Slices have 1 to so many bytes; with 0, as they come.
    std::size_t bytes_per_second = 0;  // 0 is no limit.
    OneIn pause_one_in = 0;            // Slices that wait up to `pause_max` and go on.
    Duration pause_max = std::chrono::seconds(1);
    // Slices that wait until bytes of another connection have passed which came later, or for
    // `overtaking_max` when there are none.
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

  OneIn refuse_one_in = 0;       // Connections that are broken off as soon as they are made.
  Duration connect_delay_max{};  // Up to so long a new connection waits for the way to the target.

  Lane to_target = {};
  Lane to_client = {};

  const Lane& lane(ChaosDirection direction) const {
    return direction == ChaosDirection::to_target ? to_target : to_client;
  }

  // A mix of some of them, such that a good part of the connections comes through.
  static ChaosPlan random(Random& random);
};

// What a plan has in store for one connection.
struct ChaosFate {
  bool refused = false;
  Duration connect_delay{};
  std::optional<ChaosFault> fault;
  ChaosDirection direction = ChaosDirection::to_target;  // Of the fault,
  std::uint64_t fault_at = 0;                            // and after how many of its bytes.

  static ChaosFate draw(const ChaosPlan& plan, Random& random);
};

}  // namespace corolane::test
