// SPDX-License-Identifier: MIT
// The metrics of calls: those that a server serves and those that a client makes.
//
//   node.metrics().add([&](MetricWriter& out) {
//     collect_client("store", store_client.statistics(), out);
//   });
#pragma once

#include <array>
#include <string_view>

#include "framework/telemetry/metrics.h"
#include "rpc/client/client.h"
#include "rpc/server/server.h"

namespace corolane::framework {

// The priorities as labels, by number.
inline constexpr std::array<std::string_view, rpc::priority_count> priority_names = {
    "control", "in_session", "login", "background"};

// Writes the metrics of a whole server, by method, by code and by priority. The label `fault` of
// errors and refused calls says whose fault they are: "server" or "caller"
// (rpc/observe/call_outcome.h).
void collect_server(const rpc::Server::Statistics& statistics, MetricWriter& out);

// Writes the metrics of a client. `peer` says what it calls and tells it from other clients; its
// values come from a small fixed set. For services that have clients:
//
//   node.metrics().add([&](MetricWriter& out) {
//     collect_client("store", store_client.statistics(), out);
//   });
void collect_client(std::string_view peer, const rpc::Client::Statistics& statistics,
                    MetricWriter& out);

}  // namespace corolane::framework
