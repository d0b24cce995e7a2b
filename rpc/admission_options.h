// How much work a server admits at a time. A call that is refused is refused on arrival.
#pragma once

#include <chrono>
#include <cstddef>

namespace corolane::rpc {

struct AdmissionOptions {
  // The queue delay a call may have under a standing queue: half of a game's tick of 50 ms. With a
  // much smaller value, a few hundred players who each wait for one reply would look like overload.
  std::chrono::milliseconds delay_target{25};
  // The queue delay a call may have in a burst, after which the queue is empty again: about what
  // people notice.
  std::chrono::milliseconds delay_max{100};
  // A queue that stands for longer than this is not a burst.
  std::chrono::milliseconds interval{100};
  // The maximum number of waiting calls, at any rate.
  std::size_t waiting_max = 16'384;
  // The least retry_after of a refusal: callers come back after once to twice this time.
  std::chrono::milliseconds retry_after{100};
};

}  // namespace corolane::rpc
