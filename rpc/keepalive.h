// How dead peers are detected: those that vanished without closing their connection.
#pragma once

#include <chrono>

namespace corolane::rpc {

struct Keepalive {
  // A peer that has been silent for this long is pinged. Below the half minute after which routers
  // begin to forget connections.
  std::chrono::milliseconds interval{10'000};
  // The peer is lost when nothing arrives for this long after the ping.
  std::chrono::milliseconds patience{5'000};
};

}  // namespace corolane::rpc
