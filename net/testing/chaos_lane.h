// SPDX-License-Identifier: MIT
// One direction of a connection through a ChaosProxy: a queue between two tasks.
//
//   ChaosLane lane({.trace = trace,
//                   .connection = 1,
//                   .direction = ChaosDirection::to_target,
//                   .source = *client,
//                   .destination = *target,
//                   .end_connection = [&](ChaosEvent::Kind) { target->close(); }},
//                  plan.to_target, random);
//   auto reader = coroutine::spawn("take in", [&] { lane.take_in(); });
//   lane.hand_on();
//
// One task reads from the source and fills the queue; the other takes slices out of it, holds them
// for as long as the plan says and writes them to the destination. Delays therefore do not add up,
// and the source feels backpressure once the queue is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/testing/random.h"
#include "net/stream.h"
#include "net/testing/chaos_plan.h"
#include "net/testing/chaos_trace.h"

namespace corolane::test {

class ChaosLane {
 public:
  struct Way {
    ChaosTrace& trace;
    std::uint64_t connection;
    ChaosDirection direction;
    net::Stream& source;
    net::Stream& destination;
    // Ends both directions for the given reason: `reset`, `closed` or `broken`. Never suspends.
    std::function<void(ChaosEvent::Kind)> end_connection;
  };

  ChaosLane(Way way, const ChaosPlan::Lane& plan, Random random)
      : way_(std::move(way)), plan_(plan), random_(random) {}

  // The two tasks. They suspend until the direction has ended or the task is cancelled.
  void take_in();
  void hand_on();

  // The fault occurs once `byte_count` more bytes have passed.
  void inject_after(ChaosFault fault, std::uint64_t byte_count);
  // Ends a hang. Never suspends.
  void resume();
  // Clears all pending faults. False when bytes are missing already, so that the connection is
  // useless.
  bool heal();

 private:
  struct Chunk {
    std::vector<std::byte> bytes;  // Empty at the source's end.
    bool is_broken = false;        // Whether the source ended abnormally.
    std::size_t taken = 0;
    TimePoint arrived_at;
    std::uint64_t arrival;  // Its position in the order across connections.

    std::size_t left() const { return bytes.size() - taken; }
  };

  bool fault_is_due() const { return fault_ && passed_bytes_ == fault_at_; }
  bool can_move() const { return !hangs_ && !queue_.empty(); }
  // Executes the fault that is due.
  void meet_fault();
  void swallow_queue();
  // False when the task must end.
  bool wait_for_its_time(const Chunk& chunk, std::size_t size);
  void pass_end(const Chunk& end);
  bool sleep_as(ChaosEvent::Kind kind, TimePoint until);
  bool pass_slice(std::size_t size);
  void record(ChaosEvent::Kind kind, std::uint64_t byte_count = 0) {
    way_.trace.record(kind, way_.connection, way_.direction, byte_count);
  }

  Way way_;
  ChaosPlan::Lane plan_;
  Random random_;
  std::deque<Chunk> queue_;
  std::size_t queued_bytes_ = 0;
  std::uint64_t passed_bytes_ = 0;
  std::optional<ChaosFault> fault_;
  std::uint64_t fault_at_ = 0;
  bool hangs_ = false;
  bool swallows_ = false;      // Bytes of the source are discarded.
  bool tells_the_end_ = true;  // False after a drop: its end is discarded, too.
  TimePoint last_due_{};
  TimePoint free_at_{};  // When the bandwidth limit admits the next slice.
  coroutine::Event changed_{"bytes to pass on"};
  coroutine::Event room_{"room to take in more"};
};

}  // namespace corolane::test
