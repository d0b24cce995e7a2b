// SPDX-License-Identifier: MIT
#include "net/peer_life.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace corolane::net {

PeerLife::State PeerLife::look(const StreamStatistics& statistics, TimePoint time,
                               Duration interval) {
  // Its own data, and its answer, may wait behind the output that it takes, here or on the way.
  if (output_progress_.has_grown(statistics)) {
    took_at_ = time;
    is_asked_ = false;
  }
  if (time - alive_at() < interval) return State::alive;
  if (is_asked_) return State::gone;
  is_asked_ = true;
  return State::silent;
}

Error PeerLife::gone(TimePoint time) const {
  const auto silence = std::chrono::ceil<std::chrono::seconds>(time - alive_at());
  return Error(Code::unavailable,
               "the peer was silent for " + std::to_string(silence.count()) + " s");
}

TimePoint PeerLife::alive_at() const { return std::max(heard_at_, took_at_); }

}  // namespace corolane::net
