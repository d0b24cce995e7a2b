// SPDX-License-Identifier: MIT
// Counts events, and keeps the order across connections.
#include "net/testing/chaos_trace.h"

#include <algorithm>
#include <sstream>

namespace corolane::test {
namespace {

constexpr std::array<std::string_view, ChaosEvent::kind_count> kind_names = {
    "connected", "connected late", "refused",   "forwarded", "sliced", "delayed",
    "throttled", "paused",         "overtaken", "reset",     "closed", "half-closed",
    "dropped",   "hung",           "swallowed", "resumed",   "broken", "ended"};

}  // namespace

std::string_view to_string(ChaosEvent::Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

void ChaosTrace::record(ChaosEvent::Kind kind, std::uint64_t connection, ChaosDirection direction,
                        std::uint64_t byte_count) {
  ++counts_[index(kind)];
  byte_counts_[index(kind)] += byte_count;
  if (events_.size() == event_count_max_) return;
  events_.push_back({.time = now() - begin_,
                     .kind = kind,
                     .connection = connection,
                     .direction = direction,
                     .byte_count = byte_count});
}

std::string ChaosTrace::to_text() const {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::ostringstream text;
  for (const ChaosEvent& event : events_) {
    text << Milliseconds(event.time).count() << " ms: connection " << event.connection << ' '
         << to_string(event.direction) << ": " << to_string(event.kind);
    if (event.byte_count != 0) text << ' ' << event.byte_count << " bytes";
    text << '\n';
  }
  return text.str();
}

void ChaosTrace::pass(ChaosDirection direction, std::uint64_t arrival) {
  std::uint64_t& latest = order(direction).latest_passed;
  if (arrival <= latest) return;
  latest = arrival;
  some_passed_.pulse();
}

bool ChaosTrace::wait_to_be_overtaken(ChaosDirection direction, std::uint64_t arrival,
                                      Deadline deadline) {
  // Within a connection nothing overtakes: later bytes belong to another connection.
  while (order(direction).latest_passed <= arrival) {
    if (!some_passed_.wait(deadline)) return false;
  }
  return true;
}

}  // namespace corolane::test
