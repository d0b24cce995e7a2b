// How dead peers are found out: those that vanished without closing their connection.
#pragma once

#include <chrono>

namespace corolane::rpc {

struct Keepalive {
  // A peer that was silent for so long is asked whether it is there. Below the half minute after
  // which routers begin to forget connections.
  std::chrono::milliseconds interval{10'000};
  // It is lost when nothing came for so long after that.
  std::chrono::milliseconds patience{5'000};
};

}  // namespace corolane::rpc
