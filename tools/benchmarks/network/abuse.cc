// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/abuse.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "tools/benchmarks/network/latency_turns.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/server_cost.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

constexpr double calls_per_second = 5'000;
constexpr std::size_t client_count = 10;
// The measurement excludes the arrival of the abusers, which keeps both cores busy.
constexpr std::chrono::milliseconds settling_time = 1500ms;

// A server and its well-behaved clients.
struct Served {
  static Result<Served> start(const Serve& serve) {
    auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    auto clients = FramesOpenLoop::connect(server->port(), {.method = "corolane.bench.Echo/Echo",
                                                            .connection_count = client_count,
                                                            .deadline = latency_patience});
    if (!clients) return clients.error();
    const auto warm = (*clients)->run(calls_per_second, warm_up_time);
    if (!warm) return warm.error();
    return Served{.server = std::move(*server), .clients = std::move(*clients)};
  }

  ServerProcess server;
  std::unique_ptr<OpenLoop> clients;
};

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
    return relative_latency(*undisturbed->clients, *abused->clients, calls_per_second);
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
