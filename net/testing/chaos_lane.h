// One direction of a connection through a ChaosProxy: a queue between two tasks.
//
// One task reads what the source sends and puts it into the queue, the other one takes slices out
// of it, keeps them as long as the plan says and writes them to the destination. So delays do not
// add up, and what does not move is felt by the source once the queue is full.
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
    // Ends both directions for the reason given: `reset`, `closed` or `broken`. Never suspends.
    std::function<void(ChaosEvent::Kind)> end_connection;
  };

  ChaosLane(Way way, const ChaosPlan::Lane& plan, Random random)
      : way_(std::move(way)), plan_(plan), random_(random) {}

  // The two tasks. They suspend until the direction has ended or the task is cancelled.
  void take_in();
  void hand_on();

  // The fault happens once `byte_count` more bytes have passed.
  void inject_after(ChaosFault fault, std::uint64_t byte_count);
  // Ends a hang. Never suspends.
  void resume();
  // No fault any more for what comes. False when bytes are missing already, so that the connection
  // is of no more use.
  bool heal();

 private:
  struct Chunk {
    std::vector<std::byte> bytes;  // None: the source's end,
    bool is_broken = false;        // an orderly one or not.
    std::size_t taken = 0;
    TimePoint arrived_at;
    std::uint64_t arrival;  // Its place in the order among connections.

    std::size_t left() const { return bytes.size() - taken; }
  };

  bool fault_is_due() const { return fault_ && passed_bytes_ == fault_at_; }
  bool can_move() const { return !hangs_ && !queue_.empty(); }
  // Does what fault_is_due() is about.
  void meet_fault();
  void swallow_queue();
  // False when the task has to end.
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
  bool swallows_ = false;      // Bytes of the source go nowhere any more,
  bool tells_the_end_ = true;  // nor does its end.
  TimePoint last_due_{};
  TimePoint free_at_{};  // When the bandwidth is there for the next slice.
  coroutine::Event changed_{"bytes to pass on"};
  coroutine::Event room_{"room to take in more"};
};

}  // namespace corolane::test
