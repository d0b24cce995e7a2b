// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/login_cost.h"

#include <chrono>
#include <utility>
#include <vector>

#include "tools/benchmarks/network/crowd.h"
#include "tools/benchmarks/network/publication_cost.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

constexpr std::size_t crowd_size = 500;

// A server, and what its clients say.
struct Arrivals {
  ServerProcess server;
  std::unique_ptr<Talk> talk;
  std::vector<double> costs_us = {};
  std::chrono::nanoseconds cpu_time{0};

  static Result<Arrivals> start(const Serve& serve, const MakeTalk& make_talk) {
    auto server = ServerProcess::start(serve);
    if (!server) return server.error();
    auto talk = make_talk(server->port());
    if (!talk) return talk.error();
    Arrivals arrivals{.server = std::move(*server), .talk = std::move(*talk)};
    // The first crowd fills pools.
    if (auto warm = arrivals.take_one(); !warm) return warm.error();
    arrivals.costs_us.clear();
    arrivals.cpu_time = {};
    return arrivals;
  }

  // The leaving of the last crowd does not count.
  Result<void> take_one() {
    const auto before = cpu_time_at_rest(server);
    const auto crowd = Crowd::connect(server.port(), *talk, crowd_size);
    if (!crowd) return crowd.error();
    const auto cost = cpu_time_at_rest(server) - before;
    cpu_time += cost;
    costs_us.push_back(std::chrono::duration<double, std::micro>(cost).count() / crowd_size);
    return {};
  }

  bool has_enough() const { return !costs_us.empty() && cpu_time >= effort(); }
};

}  // namespace

Measure arrival_cost(Serve serve, MakeTalk make_talk) {
  return [=]() -> Result<Measurement> {
    pin_to(Core::generator);
    auto arrivals = Arrivals::start(serve, make_talk);
    if (!arrivals) return arrivals.error();
    while (!arrivals->has_enough()) {
      if (auto taken = arrivals->take_one(); !taken) return taken.error();
    }
    return Measurement{.value = median_of(arrivals->costs_us)};
  };
}

Measure additional_arrival_cost(Serve serve, MakeTalk make_talk, Serve other, MakeTalk other_talk) {
  return [=]() -> Result<Measurement> {
    pin_to(Core::generator);
    auto ours = Arrivals::start(serve, make_talk);
    if (!ours) return ours.error();
    auto without = Arrivals::start(other, other_talk);
    if (!without) return without.error();
    while (!ours->has_enough()) {
      if (auto taken = ours->take_one(); !taken) return taken.error();
      if (auto taken = without->take_one(); !taken) return taken.error();
    }
    return Measurement{.value = median_of(ours->costs_us) - median_of(without->costs_us)};
  };
}

}  // namespace corolane::bench
