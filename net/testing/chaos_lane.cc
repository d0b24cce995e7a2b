// SPDX-License-Identifier: MIT
// The two tasks of a direction, and the faults, which the second one executes.
#include "net/testing/chaos_lane.h"

#include <algorithm>
#include <utility>

#include "coroutine/task.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using Kind = ChaosEvent::Kind;

constexpr std::size_t chunk_bytes_max = 16 * 1024;
// Slightly more than a 100 Mbit/s link carries in 20 ms; the size of an output buffer of net.
constexpr std::size_t queue_bytes_max = 256 * 1024;

}  // namespace

void ChaosLane::take_in() {
  std::vector<std::byte> buffer(chunk_bytes_max);
  for (;;) {
    while (queued_bytes_ >= queue_bytes_max) {
      if (!room_.wait(Deadline::never())) return;
    }
    const auto count = way_.source.read_some(buffer, Deadline::never());
    if (coroutine::is_cancelled()) return;
    const std::size_t size = count.value_or(0);
    if (!swallows_) {
      queue_.push_back(
          {.bytes = {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size)},
           .is_broken = !count,
           .arrived_at = now(),
           .arrival = way_.trace.next_arrival(way_.direction)});
      queued_bytes_ += size;
      changed_.pulse();
    } else if (size != 0) {
      record(Kind::swallowed, size);
    } else if (!count && tells_the_end_) {
      way_.end_connection(Kind::broken);
    }
    if (size == 0) return;
  }
}

void ChaosLane::hand_on() {
  for (;;) {
    if (fault_is_due()) {
      meet_fault();
      if (swallows_) return;
      continue;
    }
    if (!can_move()) {
      if (!changed_.wait(Deadline::never())) return;
      continue;
    }
    const Chunk& chunk = queue_.front();
    const std::size_t whole = chunk.left();
    const std::size_t size = plan_.slice_bytes_max == 0
                                 ? whole
                                 : std::min(whole, 1 + random_.below(plan_.slice_bytes_max));
    if (!wait_for_its_time(chunk, size)) return;
    // A fault may have been injected during the wait.
    if (fault_is_due() || !can_move()) continue;
    if (whole == 0) return pass_end(chunk);
    const std::uint64_t until_fault = fault_ ? fault_at_ - passed_bytes_ : size;
    if (!pass_slice(std::min<std::uint64_t>(size, until_fault))) return;
  }
}

bool ChaosLane::wait_for_its_time(const Chunk& chunk, std::size_t size) {
  const TimePoint arrived_at = chunk.arrived_at;
  const std::uint64_t arrival = chunk.arrival;
  last_due_ = std::max(last_due_, arrived_at + plan_.delay + random_.up_to(plan_.jitter));
  if (!sleep_as(Kind::delayed, last_due_)) return false;
  if (plan_.bytes_per_second != 0) {
    const TimePoint begin = std::max(free_at_, now());
    free_at_ = begin + Duration(1s) * size / plan_.bytes_per_second;
    if (!sleep_as(Kind::throttled, begin)) return false;
  }
  if (plan_.pause_one_in != 0 && random_.one_in(plan_.pause_one_in)) {
    if (!sleep_as(Kind::paused, now() + random_.up_to(plan_.pause_max))) return false;
  }
  if (plan_.overtake_one_in != 0 && random_.one_in(plan_.overtake_one_in)) {
    const Deadline deadline = Deadline::after(plan_.overtaking_max);
    if (way_.trace.wait_to_be_overtaken(way_.direction, arrival, deadline)) {
      record(Kind::overtaken);
    }
  }
  return !coroutine::is_cancelled();
}

void ChaosLane::pass_end(const Chunk& end) {
  if (end.is_broken) {
    way_.end_connection(Kind::broken);
  } else {
    record(Kind::ended);
    way_.destination.finish_writing();
  }
}

bool ChaosLane::sleep_as(Kind kind, TimePoint until) {
  if (until <= now()) return true;
  record(kind);
  return coroutine::sleep_until(Deadline::at(until)).has_value();
}

bool ChaosLane::pass_slice(std::size_t size) {
  Chunk& chunk = queue_.front();
  const auto begin = chunk.bytes.begin() + static_cast<std::ptrdiff_t>(chunk.taken);
  const std::vector<std::byte> slice(begin, begin + static_cast<std::ptrdiff_t>(size));
  const std::uint64_t arrival = chunk.arrival;
  chunk.taken += size;
  queued_bytes_ -= size;
  passed_bytes_ += size;
  if (chunk.left() != 0) {
    record(Kind::sliced, size);
  } else {
    record(Kind::forwarded, size);
    queue_.pop_front();
  }
  room_.pulse();

  auto written = way_.destination.write_all(slice, Deadline::never());
  // Slices that wait together for the end of a turn would be sent as one.
  if (written) written = way_.destination.flush(Deadline::never());
  if (written) {
    way_.trace.pass(way_.direction, arrival);
  } else if (!coroutine::is_cancelled()) {
    way_.end_connection(Kind::broken);
  }
  return written.has_value();
}

void ChaosLane::meet_fault() {
  switch (*std::exchange(fault_, std::nullopt)) {
    case ChaosFault::reset:
      swallows_ = true;
      way_.end_connection(Kind::reset);
      return;
    case ChaosFault::close:
      swallows_ = true;
      way_.end_connection(Kind::closed);
      return;
    case ChaosFault::half_close:
      record(Kind::half_closed);
      way_.destination.finish_writing();
      swallow_queue();
      return;
    case ChaosFault::drop:
      record(Kind::dropped);
      tells_the_end_ = false;
      swallow_queue();
      return;
    case ChaosFault::hang:
      record(Kind::hung);
      hangs_ = true;
      return;
  }
}

void ChaosLane::swallow_queue() {
  swallows_ = true;
  if (queued_bytes_ != 0) record(Kind::swallowed, queued_bytes_);
  queue_.clear();
  queued_bytes_ = 0;
  room_.pulse();
}

void ChaosLane::inject_after(ChaosFault fault, std::uint64_t byte_count) {
  fault_ = fault;
  fault_at_ = passed_bytes_ + byte_count;
  changed_.pulse();
}

void ChaosLane::resume() {
  if (!std::exchange(hangs_, false)) return;
  record(Kind::resumed);
  changed_.pulse();
}

bool ChaosLane::heal() {
  plan_ = {};
  fault_.reset();
  resume();
  return tells_the_end_;
}

}  // namespace corolane::test
