// SPDX-License-Identifier: MIT
// Sends calls by a schedule, whether or not earlier ones have been answered.
//
// A load that waits for replies before it sends more slows down together with the server, so it
// flatters a slow server ("coordinated omission"). Here every call has a scheduled time, and its
// latency counts from there, even if it is sent later.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/network.h"
#include "tools/corolane/bench/pattern.h"
#include "tools/corolane/bench/tally.h"
#include "tools/corolane/command.h"
#include "tools/corolane/remote_peer.h"

namespace corolane::tools::cli::bench {

// Calls beyond this number in flight are not sent: each needs a stack.
inline constexpr std::size_t under_way_max = 50'000;

struct Load {
  RemotePeer peer;
  std::string method;  // A name for find_method().
  Pattern request;     // JSON.
  std::optional<Pattern> object = {};
  double rate = 1'000;  // Per second.
  Duration duration = std::chrono::seconds(10);
  std::size_t connections = 1;
  std::optional<Duration> timeout = {};  // The timeout; by default that of the method.
};

struct Progress {
  double seconds;
  std::size_t under_way;
  const Tally& tally;
};

// Suspends until all calls have ended or, once `stops` is true, for another second at most. Calls
// `tell` each second. Fails like run_dynamic_call(); failed calls are only counted.
std::expected<Ran, Failure> run_load(net::Network& network, const Load& load,
                                     const std::atomic<bool>& stops, Tally& tally,
                                     const std::function<void(const Progress&)>& tell);

}  // namespace corolane::tools::cli::bench
