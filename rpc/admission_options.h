// How much work a server takes on at a time. What it refuses, it refuses on arrival.
#pragma once

#include <chrono>
#include <cstddef>

namespace corolane::rpc {

struct AdmissionOptions {
  // What a call may wait for its turn while others always wait before it: half of a game's tick of
  // 50 ms. Much less, and players of whom each waits for one reply at a time would look like
  // overload as soon as they are some hundreds.
  std::chrono::milliseconds delay_target{25};
  // What it may wait in a burst, after which the queue is empty again: what people notice.
  std::chrono::milliseconds delay_max{100};
  // How long a queue must stand to be no burst.
  std::chrono::milliseconds interval{100};
  // Calls that wait at the most, however fast they go.
  std::size_t waiting_max = 16'384;
  // What is told to those that are refused, at least: they come back between then and twice that.
  std::chrono::milliseconds retry_after{100};
};

}  // namespace corolane::rpc
