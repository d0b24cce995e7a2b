// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/publication_cost.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "coroutine/base/histogram.h"
#include "tools/benchmarks/network/crowd.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int warm_up_count = 3;
// A publication takes a tenth of a second, and one that was disturbed should not decide.
constexpr int efforts = 3;

// A server whose CPU time grows by less than this within a look only keeps its timers.
constexpr std::chrono::nanoseconds rest_time_max = 20us;
constexpr std::chrono::milliseconds look_interval{1};
// The server of a client may go on by itself: then this must do.
constexpr int look_count_max = 200;

struct Publication {
  std::chrono::nanoseconds cpu_time;
  std::chrono::nanoseconds elapsed;
};

Result<void> acknowledge_all(Crowd& crowd) {
  for (std::size_t client = 0; client < crowd.size(); ++client) {
    if (auto said = crowd.acknowledge(client); !said) return said;
  }
  return {};
}

Result<Publication> publish(const ServerProcess& server, Crowd& crowd,
                            Acknowledgements acknowledgements) {
  const auto cpu_time_before = cpu_time_at_rest(server);
  const Clock::time_point start = Clock::now();
  if (auto asked = crowd.request(0); !asked) return asked.error();
  auto heard = crowd.await(&Heard::news_count, crowd.heard().news_count + crowd.size());
  if (!heard) return heard.error();
  const auto elapsed = Clock::now() - start;
  const auto cpu_time_of_news = cpu_time_at_rest(server);
  if (auto said = acknowledge_all(crowd); !said) return said.error();
  const auto cpu_time_of_all = cpu_time_at_rest(server);
  const bool all_counts = acknowledgements == Acknowledgements::are_included;
  return Publication{
      .cpu_time = (all_counts ? cpu_time_of_all : cpu_time_of_news) - cpu_time_before,
      .elapsed = elapsed};
}

}  // namespace

std::chrono::nanoseconds cpu_time_at_rest(const ServerProcess& server) {
  auto cpu_time = server.cpu_time();
  for (int look = 0; look < look_count_max; ++look) {
    std::this_thread::sleep_for(look_interval);
    const auto before = std::exchange(cpu_time, server.cpu_time());
    if (cpu_time - before < rest_time_max) break;
  }
  return cpu_time;
}

Measure publication_cost(Serve serve, MakeTalk make_talk, std::size_t client_count,
                         Acknowledgements acknowledgements) {
  return [=]() -> Result<Measurement> {
    pin_to(Core::generator);
    const auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    const auto talk = make_talk(server->port());
    if (!talk) return talk.error();
    const auto crowd = Crowd::connect(server->port(), **talk, client_count);
    if (!crowd) return crowd.error();
    if (auto joined = (*crowd)->join(); !joined) return joined.error();
    for (int count = 0; count < warm_up_count; ++count) {
      const auto published = publish(*server, **crowd, acknowledgements);
      if (!published) return published.error();
    }
    Histogram elapsed_ns;
    std::vector<double> costs_ns;
    const Clock::time_point start = Clock::now();
    while (costs_ns.empty() || Clock::now() < start + efforts * effort()) {
      const auto published = publish(*server, **crowd, acknowledgements);
      if (!published) return published.error();
      costs_ns.push_back(static_cast<double>(published->cpu_time.count()) /
                         static_cast<double>(client_count));
      elapsed_ns.record(static_cast<std::uint64_t>(published->elapsed.count()));
    }
    const std::chrono::duration<double> seconds = Clock::now() - start;
    return Measurement{
        .value = median_of(costs_ns),
        .traffic = Traffic{.ops_per_second = static_cast<double>(costs_ns.size()) / seconds.count(),
                           .p50_us = static_cast<double>(elapsed_ns.quantile(0.5)) / 1e3,
                           .p99_us = static_cast<double>(elapsed_ns.quantile(0.99)) / 1e3}};
  };
}

}  // namespace corolane::bench
