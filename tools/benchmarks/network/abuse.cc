// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/abuse.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr double calls_per_second = 5'000;
constexpr std::size_t client_count = 10;
constexpr std::chrono::milliseconds patience = 1s;
// The measurement excludes the arrival of the abusers, which keeps both cores busy.
constexpr std::chrono::milliseconds settling_time = 1500ms;
// Two servers, one of which has no abusers, get the same calls in turns of a fraction of a second,
// so that a change of the machine's pace affects both. The result is the lower quartile over the
// turns: a virtual machine loses its core for some milliseconds in many of them, which says nothing
// of the server, and abusers that harm clients harm them in all turns.
constexpr int turn_count = 16;
constexpr int turns_per_effort = 5;

// A server and its well-behaved clients.
struct Served {
  static Result<Served> start(const Serve& serve) {
    auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    auto clients = FramesOpenLoop::connect(server->port(), {.method = "corolane.bench.Echo/Echo",
                                                            .connection_count = client_count,
                                                            .deadline = patience});
    if (!clients) return clients.error();
    const auto warm = (*clients)->run(calls_per_second, warm_up_time);
    if (!warm) return warm.error();
    return Served{.server = std::move(*server), .clients = std::move(*clients)};
  }

  ServerProcess server;
  std::unique_ptr<OpenLoop> clients;
};

struct Latencies {
  std::vector<double> p50s_us;
  std::vector<double> p99s_us;
  std::uint64_t good_count = 0;
};

double lower_quartile_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 4];
}

Result<void> take_turn(OpenLoop& clients, Latencies& latencies) {
  auto outcome = clients.run(calls_per_second, effort() / turns_per_effort);
  if (!outcome) return outcome.error();
  // An unanswered call counts with the full deadline.
  for (std::uint64_t count = outcome->answered_count(); count < outcome->sent_count; ++count) {
    outcome->latency_ns.record(std::chrono::nanoseconds(patience).count());
  }
  latencies.p50s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.5)) / 1e3);
  latencies.p99s_us.push_back(static_cast<double>(outcome->latency_ns.quantile(0.99)) / 1e3);
  latencies.good_count += outcome->good_count;
  return {};
}

// Remembers the most memory that a process had. It looks often enough: memory comes with input,
// megabytes of which take longer.
class MemoryPeak {
 public:
  explicit MemoryPeak(const ServerProcess& server)
      : before_(server.resident_bytes()),
        peak_(before_),
        watcher_([&](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            peak_ = std::max(peak_, server.resident_bytes());
            std::this_thread::sleep_for(20ms);
          }
        }) {}

  double mebibytes() {
    watcher_.request_stop();
    watcher_.join();
    return static_cast<double>(peak_ - before_) / (1024 * 1024);
  }

 private:
  const std::size_t before_;
  std::size_t peak_;
  std::jthread watcher_;
};

}  // namespace

Measure latency_under(Abuse abuse, Serve serve) {
  return [abuse, serve = std::move(serve)]() -> Result<Measurement> {
    pin_to(Core::generator);
    const auto undisturbed = Served::start(serve);
    if (!undisturbed) return undisturbed.error();
    const auto abused = Served::start(serve);
    if (!abused) return abused.error();
    const auto abusers = begin(abuse, abused->server.port());
    if (!abusers) return abusers.error();
    const auto settled = abused->clients->run(calls_per_second, settling_time);
    if (!settled) return settled.error();
    Latencies without;
    Latencies with;
    for (int turn = 0; turn < turn_count; ++turn) {
      if (auto taken = take_turn(*undisturbed->clients, without); !taken) return taken.error();
      if (auto taken = take_turn(*abused->clients, with); !taken) return taken.error();
    }
    const double p99_us = lower_quartile_of(with.p99s_us);
    const double seconds =
        std::chrono::duration<double>(effort() * turn_count / turns_per_effort).count();
    return Measurement{
        .value = 100 * p99_us / lower_quartile_of(without.p99s_us),
        .traffic = Traffic{.ops_per_second = static_cast<double>(with.good_count) / seconds,
                           .p50_us = median_of(with.p50s_us),
                           .p99_us = p99_us}};
  };
}

Measure memory_under(Abuse abuse, Serve serve) {
  return [abuse, serve = std::move(serve)]() -> Result<Measurement> {
    pin_to(Core::generator);
    const auto served = Served::start(serve);
    if (!served) return served.error();
    MemoryPeak peak(served->server);
    const auto abusers = begin(abuse, served->server.port());
    if (!abusers) return abusers.error();
    const auto settled = served->clients->run(calls_per_second, settling_time);
    if (!settled) return settled.error();
    return Measurement{.value = peak.mebibytes()};
  };
}

}  // namespace corolane::bench
