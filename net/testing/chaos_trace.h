// SPDX-License-Identifier: MIT
// The log of a ChaosProxy: its events in order, and the count of each kind.
//
//   EXPECT_GT(proxy.trace().count(ChaosEvent::Kind::reset), 0U) << proxy.trace().to_text();
//
// A test of faults that never happened proves nothing, so tests check the counts. The trace shows
// why a seed failed, and that the same seed repeats the same run.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/sync/event.h"
#include "net/testing/chaos_plan.h"

namespace corolane::test {

struct ChaosEvent {
  enum class Kind : std::uint8_t {
    connected,       // To the target: the connection is complete.
    connected_late,  // The connect delay of the plan has passed.
    refused,         // By the plan, or because the target could not be reached.
    forwarded,       // `byte_count` bytes: a whole chunk, or its last slice.
    sliced,          // An earlier slice.
    delayed,
    throttled,  // A slice waited for bandwidth.
    paused,
    overtaken,    // A slice waited, and later bytes of another connection passed it.
    reset,        // The faults, as they happened.
    closed,       //
    half_closed,  //
    dropped,      //
    hung,         //
    swallowed,    // `byte_count` bytes, after a drop or a half-close.
    resumed,      // After having hung.
    broken,       // By one of the ends; the other end is notified.
    ended,        // A direction, by its sender; the receiver is notified.
  };
  static constexpr std::size_t kind_count = static_cast<std::size_t>(Kind::ended) + 1;

  Duration time;  // Since the trace began.
  Kind kind;
  std::uint64_t connection;
  ChaosDirection direction;
  std::uint64_t byte_count;

  friend auto operator<=>(const ChaosEvent&, const ChaosEvent&) = default;
};

std::string_view to_string(ChaosEvent::Kind kind);

class ChaosTrace {
 public:
  explicit ChaosTrace(std::size_t event_count_max) : event_count_max_(event_count_max) {}

  void record(ChaosEvent::Kind kind, std::uint64_t connection,
              ChaosDirection direction = ChaosDirection::to_target, std::uint64_t byte_count = 0);

  std::uint64_t count(ChaosEvent::Kind kind) const { return counts_[index(kind)]; }
  std::uint64_t byte_count(ChaosEvent::Kind kind) const { return byte_counts_[index(kind)]; }
  // The first events; the counts continue when there are too many.
  const std::vector<ChaosEvent>& events() const { return events_; }
  // One line for each event.
  std::string to_text() const;

  // The number of the next bytes of a direction, counted across connections.
  std::uint64_t next_arrival(ChaosDirection direction) { return ++order(direction).last_arrival; }
  // Records that the bytes of that number were passed on.
  void pass(ChaosDirection direction, std::uint64_t arrival);
  // Suspends until later bytes of another connection have passed. False when none did before the
  // deadline.
  bool wait_to_be_overtaken(ChaosDirection direction, std::uint64_t arrival, Deadline deadline);

 private:
  struct Order {
    std::uint64_t last_arrival = 0;
    std::uint64_t latest_passed = 0;
  };

  static std::size_t index(ChaosEvent::Kind kind) { return static_cast<std::size_t>(kind); }
  Order& order(ChaosDirection direction) { return orders_[static_cast<std::size_t>(direction)]; }

  TimePoint begin_ = now();
  std::size_t event_count_max_;
  std::vector<ChaosEvent> events_;
  std::array<std::uint64_t, ChaosEvent::kind_count> counts_{};
  std::array<std::uint64_t, ChaosEvent::kind_count> byte_counts_{};
  std::array<Order, 2> orders_{};
  coroutine::Event some_passed_{"bytes of another connection"};
};

}  // namespace corolane::test
