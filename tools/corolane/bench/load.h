// Calls that come by a schedule, whether or not earlier ones were replied to.
//
// A load that waits for replies before it sends more slows down together with the server, and
// measures it kindest where it is slowest ("coordinated omission"). Here every call has its moment,
// and its latency counts from there, also when it could only be sent later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/endpoint.h"
#include "net/network.h"
#include "tools/corolane/bench/pattern.h"
#include "tools/corolane/bench/tally.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli::bench {

// More calls under way are not sent: each has a stack.
inline constexpr std::size_t under_way_max = 50'000;

struct Load {
  net::HostPort peer;
  std::string method;  // What find_method() takes for one.
  Pattern request;     // JSON.
  std::optional<Pattern> object = {};
  double rate = 1'000;  // Per second.
  Duration duration = std::chrono::seconds(10);
  std::size_t connections = 1;
  std::optional<Duration> timeout = {};  // Of a call; otherwise that of the method.
};

struct Progress {
  double seconds;
  std::size_t under_way;
  const Tally& tally;
};

// Suspends until all calls have ended, or `stops` is true and those that are under way had a second
// more. Calls `tell` each second. Fails as run_dynamic_call() does; a call that fails is counted.
std::expected<Ran, Failure> run_load(net::Network& network, const Load& load,
                                     const std::atomic<bool>& stops, Tally& tally,
                                     const std::function<void(const Progress&)>& tell);

}  // namespace corolane::tools::cli::bench
