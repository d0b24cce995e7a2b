// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/never_readers.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/benchmarks/network/crowd.h"
#include "tools/benchmarks/network/latency_turns.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/network/session_open_loop.h"
#include "tools/benchmarks/network/session_talk.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr double calls_per_second = 5'000;
constexpr std::size_t good_session_count = 100;
// Each process has descriptors for so many.
constexpr std::size_t crowd_size_max = 10'000;
// In each step come two or three publications; some dozen fill what a server keeps.
constexpr std::chrono::milliseconds filling_step = 250ms;
constexpr int filling_steps_min = 6;
constexpr int filling_steps_max = 40;

// They stop reading together: a server gives up a client that takes nothing for 15 s.
Result<std::vector<DistantCrowd>> start_never_readers(std::uint16_t port, std::size_t count) {
  std::vector<DistantCrowd> crowds;
  while (count > 0) {
    const std::size_t part = std::min(count, crowd_size_max);
    const auto talk = session_talk("silent " + std::to_string(crowds.size()));
    auto crowd = DistantCrowd::start(port, talk, part);
    if (!crowd) return crowd.error();
    crowds.push_back(std::move(*crowd));
    count -= part;
  }
  for (DistantCrowd& crowd : crowds) {
    if (auto stopped = crowd.join_and_stop_reading(); !stopped) return stopped.error();
  }
  return crowds;
}

// The well-behaved sessions of a server.
Result<std::unique_ptr<SessionOpenLoop>> start_good(const ServerProcess& server) {
  auto sessions = SessionOpenLoop::connect(
      server.port(),
      {.name = "good", .session_count = good_session_count, .deadline = latency_patience});
  if (!sessions) return sessions;
  const auto warm = (*sessions)->run(calls_per_second, warm_up_time);
  if (!warm) return warm.error();
  if (auto cries = (*sessions)->let_cry(); !cries) return cries.error();
  return sessions;
}

// Lets the server publish until it has filled what it keeps for those that never read, which takes
// its core meanwhile.
Result<void> fill(const ServerProcess& server, SessionOpenLoop& sessions) {
  for (int step = 0; step < filling_steps_max; ++step) {
    const auto cpu_time_before = server.cpu_time();
    const auto run = sessions.run(calls_per_second, filling_step);
    if (!run) return run.error();
    const bool is_quiet = server.cpu_time() - cpu_time_before < filling_step / 2;
    if (is_quiet && step >= filling_steps_min) return {};
  }
  return Error(Code::deadline_exceeded, "the server does not come to rest");
}

}  // namespace

Measure latency_beside_never_readers(Serve serve, std::size_t never_reading_count) {
  return [=]() -> Result<Measurement> {
    pin_to(Core::generator);
    const auto undisturbed_server = ServerProcess::start(serve);
    if (!undisturbed_server) return undisturbed_server.error();
    const auto disturbed_server = ServerProcess::start(serve);
    if (!disturbed_server) return disturbed_server.error();
    auto crowds = start_never_readers(disturbed_server->port(), never_reading_count);
    if (!crowds) return crowds.error();
    const auto disturbed = start_good(*disturbed_server);
    if (!disturbed) return disturbed.error();
    if (auto filled = fill(*disturbed_server, **disturbed); !filled) return filled.error();
    const auto undisturbed = start_good(*undisturbed_server);
    if (!undisturbed) return undisturbed.error();
    auto measured = relative_latency(**undisturbed, **disturbed, calls_per_second);
    if (!measured) return measured;
    for (DistantCrowd& crowd : *crowds) {
      if (auto well = crowd.check(); !well) return well.error();
    }
    return measured;
  };
}

}  // namespace corolane::bench
