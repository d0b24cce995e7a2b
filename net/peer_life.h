// SPDX-License-Identifier: MIT
// Watches whether the peer of a connection is alive: it sends something, or it takes output. A peer
// that does neither is asked with a ping, and given up when it does not answer either.
//
//   PeerLife life(now());
//   if (life.look(stream.statistics(), now(), 10s) == PeerLife::State::silent) ping(stream);
#pragma once

#include <cstdint>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "net/stream.h"

namespace corolane::net {

class PeerLife {
 public:
  // `time` counts as the first sign of life.
  explicit PeerLife(TimePoint time) : heard_at_(time) {}

  // Input has arrived.
  void heard(TimePoint time) {
    heard_at_ = time;
    is_asked_ = false;
  }
  TimePoint heard_at() const { return heard_at_; }

  // `silent`: the owner sends a ping, and looks again when the peer had time to answer. `gone`: the
  // peer has not.
  enum class State : std::uint8_t { alive, silent, gone };

  // For an owner that reads: while it does not, silence proves nothing. A peer is silent when its
  // last sign of life is older than `interval`.
  State look(const StreamStatistics& statistics, TimePoint time, Duration interval);
  // When a peer that is alive has to be looked at again.
  TimePoint silent_at(Duration interval) const { return alive_at() + interval; }
  // The reason to close the connection to a peer that is gone.
  Error gone(TimePoint time) const;

 private:
  TimePoint alive_at() const;

  TimePoint heard_at_;
  TimePoint took_at_{};  // When the peer was last seen to take output.
  OutputProgress output_progress_;
  bool is_asked_ = false;  // A ping is unanswered.
};

}  // namespace corolane::net
