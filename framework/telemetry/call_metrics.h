// SPDX-License-Identifier: MIT
// The metrics of calls: those that a server serves and those that a client makes.
//
//   node.metrics().add([&](MetricWriter& out) {
//     collect_client("store", store_client.statistics(), out);
//   });
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "framework/telemetry/exemplars.h"
#include "framework/telemetry/metrics.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"

namespace corolane::framework {

// The priorities as labels, by number.
inline constexpr std::array<std::string_view, rpc::priority_count> priority_names = {
    "control", "in_session", "login", "background"};

// The bounds of the metric of a call's time: from a reply out of memory to the longest that a
// caller waits.
inline constexpr auto call_bounds_us = std::to_array<std::uint64_t>(
    {50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 500'000,
     1'000'000, 2'500'000, 5'000'000, 10'000'000, 30'000'000, 60'000'000});

// Writes the metrics of a whole server, by method, by code and by priority. The label `fault` of
// errors and refused calls says whose fault they are: "server" or "caller"
// (rpc/observe/call_outcome.h). The time of calls has `exemplars`, if any.
void collect_server(const rpc::Server::Statistics& statistics, MetricWriter& out,
                    const Exemplars* exemplars = nullptr);

// Writes the metrics of a client. `peer` says what it calls and tells it from other clients; its
// values come from a small fixed set. For services that have clients:
//
//   node.metrics().add([&](MetricWriter& out) {
//     collect_client("store", store_client.statistics(), out);
//   });
void collect_client(std::string_view peer, const rpc::Client::Statistics& statistics,
                    MetricWriter& out);

}  // namespace corolane::framework
