// SPDX-License-Identifier: MIT
// Runs the rounds, and drops contestants that fail.
#include "tools/benchmarks/run.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/benchmarks/child_process.h"
#include "tools/benchmarks/statistics.h"

namespace corolane::bench {
namespace {

struct Entrant {
  std::string name;
  const Measure* measure;
  Series values = {};
  double allocations_per_op = 0;
  std::vector<Traffic> traffic = {};
  bool failed = false;
};

void measure_once(const RowInfo& row, Entrant& entrant) {
  if (entrant.failed) return;
  const auto measured = measure_in_child(*entrant.measure);
  if (measured) {
    entrant.values.push_back(measured->value);
    entrant.allocations_per_op = measured->allocations_per_op;
    if (measured->traffic) entrant.traffic.push_back(*measured->traffic);
    return;
  }
  entrant.failed = true;
  entrant.values.clear();
  entrant.traffic.clear();
  std::fprintf(stderr, "%s: no value for %s: %s\n", row.name.c_str(), entrant.name.c_str(),
               measured.error().message().c_str());
}

Traffic typical_of(const std::vector<Traffic>& rounds) {
  const auto median = [&](double Traffic::* figure) {
    Series series;
    for (const Traffic& round : rounds) series.push_back(round.*figure);
    return median_of(std::move(series));
  };
  return {.ops_per_second = median(&Traffic::ops_per_second),
          .p50_us = median(&Traffic::p50_us),
          .p99_us = median(&Traffic::p99_us)};
}

std::vector<Entrant> entrants_of(const Row& row) {
  std::vector<Entrant> entrants;
  entrants.push_back({.name = "ours", .measure = &row.ours});
  entrants.push_back({.name = "limit", .measure = &row.limit});
  for (const Contestant& peer : row.peers) {
    entrants.push_back({.name = peer.name, .measure = &peer.measure});
  }
  return entrants;
}

}  // namespace

RowResult run_row(const Row& row, std::size_t round_count) {
  const std::size_t peer_round_count = row.costly ? 1 : round_count;
  const std::size_t own_round_count = row.costly ? 1 : round_count * row.round_factor;
  std::vector<Entrant> entrants = entrants_of(row);
  for (std::size_t round = 0; round < own_round_count; ++round) {
    const bool backwards = round % 2 == 1;
    for (std::size_t turn = 0; turn < entrants.size(); ++turn) {
      const std::size_t index = backwards ? entrants.size() - 1 - turn : turn;
      if (index >= 2 && round >= peer_round_count) continue;
      measure_once(row.info, entrants[index]);
    }
  }

  RowResult result{.info = row.info};
  Entrant& ours = entrants[0];
  Entrant& limit = entrants[1];
  result.allocations_per_op = ours.allocations_per_op;
  for (std::size_t round = 0; round < std::min(ours.values.size(), limit.values.size()); ++round) {
    result.ratios.push_back(ours.values[round] / limit.values[round]);
  }
  result.ours = std::move(ours.values);
  result.limit = std::move(limit.values);
  for (const Entrant& entrant : entrants) {
    if (entrant.traffic.empty()) continue;
    result.traffic.emplace_back(entrant.name, typical_of(entrant.traffic));
  }
  for (std::size_t index = 2; index < entrants.size(); ++index) {
    if (entrants[index].values.empty()) continue;
    result.peers.emplace_back(entrants[index].name, std::move(entrants[index].values));
  }
  return result;
}

}  // namespace corolane::bench
