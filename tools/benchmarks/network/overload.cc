// SPDX-License-Identifier: MIT
// A closed loop finds the capacity, and an open loop exceeds it.
#include "tools/benchmarks/network/overload.h"

#include <memory>
#include <utility>

#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/closed_loop.h"
#include "tools/benchmarks/network/http_open_loop.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/ours/burn.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;

// Enough to keep the server busy all the time, with a queue that is far shorter than any deadline.
// By HTTP a connection has one call at a time.
constexpr Load capacity_load(Way way) {
  return way == Way::http ? Load{.connection_count = 32, .in_flight = 1}
                          : Load{.connection_count = 16, .in_flight = 2};
}
constexpr std::size_t client_count = 16;
// Each has one call at a time: enough for the offered calls that are answered late.
constexpr std::size_t http_client_count = 4'000;
// The load of the raw server whose calls are the measure of a burn.
constexpr Load raw_load = {.connection_count = 10, .in_flight = 1};
// An overload lasts this many times the usual effort: queues need time to grow.
constexpr int overload_efforts = 3;
constexpr double good_share = 0.9;

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e3; }

Result<std::unique_ptr<OpenLoop>> connect_clients(std::uint16_t port, Way way) {
  if (way == Way::http) {
    return HttpOpenLoop::connect(port, {.request = http_json_request("Burn", overload_deadline),
                                        .connection_count = http_client_count,
                                        .deadline = overload_deadline});
  }
  return FramesOpenLoop::connect(port, {.method = "corolane.bench.Echo/Burn",
                                        .connection_count = client_count,
                                        .deadline = overload_deadline,
                                        .pace = 2ms});
}

}  // namespace

std::chrono::milliseconds overload_time() { return effort() * overload_efforts; }

Result<Overloaded> Overloaded::prepare(const Serve& serve, Way way) {
  pin_to(Core::generator);
  const auto raw = server_cost(serve_rpc_floor, closed_loop(rpc_echo_protocol, raw_load))();
  if (!raw) return raw.error();
  set_burn_time(std::chrono::nanoseconds(static_cast<std::int64_t>(raw->value)) *
                raw_calls_per_burn(way));
  auto server = ServerProcess::start(serve);
  if (!server) return server.error();
  const auto protocol = way == Way::http ? http_burn_protocol : rpc_burn_protocol;
  const auto closed = closed_loop(protocol, capacity_load(way))(server->port());
  if (!closed) return closed.error();
  if (auto warm = (*closed)->run(warm_up_time); !warm) return warm.error();
  const auto peak = (*closed)->run(effort());
  if (!peak) return peak.error();
  auto clients = connect_clients(server->port(), way);
  if (!clients) return clients.error();
  const double capacity =
      static_cast<double>(peak->op_count) / std::chrono::duration<double>(peak->elapsed).count();
  return Overloaded{
      .server = std::move(*server), .clients = std::move(*clients), .capacity = capacity};
}

Measure goodput_under_overload(Serve serve, Way way, double factor) {
  return [serve = std::move(serve), way, factor]() -> Result<Measurement> {
    const auto overloaded = Overloaded::prepare(serve, way);
    if (!overloaded) return overloaded.error();
    const auto time = overload_time();
    const auto outcome = overloaded->clients->run(overloaded->capacity * factor, time);
    if (!outcome) return outcome.error();
    const double goodput =
        static_cast<double>(outcome->good_count) / std::chrono::duration<double>(time).count();
    return Measurement{
        .value = 100 * goodput / overloaded->capacity,
        .traffic = Traffic{.ops_per_second = goodput,
                           .p50_us = microseconds(outcome->latency_ns.quantile(0.5)),
                           .p99_us = microseconds(outcome->latency_ns.quantile(0.99))}};
  };
}

Measure recovery_from_overload(Serve serve) {
  return [serve = std::move(serve)]() -> Result<Measurement> {
    const auto overloaded = Overloaded::prepare(serve, Way::frames);
    if (!overloaded) return overloaded.error();
    const auto heavy = overloaded->clients->run(overloaded->capacity * 10, overload_time());
    if (!heavy) return heavy.error();
    const double offered = overloaded->capacity / 2;
    std::chrono::seconds elapsed{0};
    for (; elapsed <= recovery_max; ++elapsed) {
      const auto light = overloaded->clients->run(offered, 1s);
      if (!light) return light.error();
      if (static_cast<double>(light->good_count) >= good_share * offered) break;
    }
    return Measurement{.value = static_cast<double>(elapsed.count())};
  };
}

}  // namespace corolane::bench
