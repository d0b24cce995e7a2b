// SPDX-License-Identifier: MIT
#include "framework/telemetry/call_metrics.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "coroutine/base/error.h"
#include "rpc/service.h"

namespace corolane::framework {
namespace {

// Bounds from a free thread to the delay at which admission control refuses calls.
constexpr auto queue_bounds_us = std::to_array<std::uint64_t>(
    {10, 50, 100, 250, 500, 1'000, 2'500, 5'000, 10'000, 25'000, 50'000, 100'000, 250'000});

constexpr MetricBuckets call_buckets = {.bounds = call_bounds_us, .units_per_base = 1e6};
constexpr MetricBuckets queue_buckets = {.bounds = queue_bounds_us, .units_per_base = 1e6};

using ErrorCounts = std::array<std::uint64_t, code_count>;

// Writes one series for each code that has occurred: most never do.
template <typename Write>
void for_each_code(const ErrorCounts& counts, Write write) {
  for (std::uint32_t number = 1; number < counts.size(); ++number) {
    if (counts[number] > 0) write(to_string(code_from_number(number)), counts[number]);
  }
}

void collect_connections(const rpc::Server::Statistics& statistics, MetricWriter& out) {
  out.gauge("corolane_rpc_connections", "Clients that are connected.", {},
            statistics.connection_count);
  out.counter("corolane_rpc_connections_accepted_total", "Connections that were accepted.", {},
              statistics.accepted_count);
  out.counter("corolane_rpc_connections_refused_total",
              "Connections that were refused: too many, or too many from their address.", {},
              statistics.refused_connection_count);
  constexpr const char* logins_help =
      "Logins of clients, one for each connection: their token was verified or refused.";
  out.counter("corolane_logins_total", logins_help, {{"outcome", "verified"}},
              statistics.login_count);
  out.counter("corolane_logins_total", logins_help, {{"outcome", "refused"}},
              statistics.refused_login_count);
  out.counter("corolane_rpc_protocol_errors_total",
              "Connections that were closed for a protocol error.", {},
              statistics.protocol_error_count);
  out.counter("corolane_rpc_received_bytes_total", "Bytes of frames that clients have sent.", {},
              statistics.received_bytes);
  out.counter("corolane_rpc_sent_bytes_total", "Bytes of frames that were sent to clients.", {},
              statistics.sent_bytes);
}

void collect_sessions(const rpc::SessionCounts& sessions, MetricWriter& out) {
  out.gauge("corolane_sessions", "Sessions of clients, with and without a connection.",
            {{"state", "connected"}}, sessions.connected_count);
  out.gauge("corolane_sessions", "Sessions of clients, with and without a connection.",
            {{"state", "waiting"}}, sessions.session_count - sessions.connected_count);
  out.gauge("corolane_session_ring_bytes",
            "Memory of pushes that clients have not acknowledged yet.", {}, sessions.ring_bytes);
  out.counter("corolane_sessions_begun_total", "Sessions that began.", {}, sessions.begun_count);
  out.counter("corolane_sessions_resumed_total",
              "Connections that resumed the session of an earlier one.", {},
              sessions.resumed_count);
  out.counter("corolane_session_moves_total",
              "Sessions that moved between shards and nodes, as their clients did.",
              {{"direction", "in"}}, sessions.arrived_count);
  out.counter("corolane_session_moves_total",
              "Sessions that moved between shards and nodes, as their clients did.",
              {{"direction", "out"}}, sessions.departed_count);
  out.counter("corolane_sessions_refused_total",
              "Connections whose session had ended, or was of another principal; they began a new "
              "one.",
              {}, sessions.refused_count);
  out.counter("corolane_sessions_expired_total",
              "Sessions that ended because their client did not come back.", {},
              sessions.expired_count);
  out.counter("corolane_sessions_kicked_total", "Sessions that the server ended.", {},
              sessions.kicked_count);
  constexpr std::string_view above_rate_help =
      "Calls above the rate of their session: `slowed` were served, `refused` were not, "
      "`disconnected` ended the connection.";
  out.counter("corolane_session_calls_above_rate_total", above_rate_help, {{"outcome", "slowed"}},
              sessions.slowed_count);
  out.counter("corolane_session_calls_above_rate_total", above_rate_help, {{"outcome", "refused"}},
              sessions.limited_count);
  out.counter("corolane_session_calls_above_rate_total", above_rate_help,
              {{"outcome", "disconnected"}}, sessions.flooded_count);
  out.counter("corolane_session_pushes_lost_total",
              "Pushes that clients were told of as gaps: they were away for too long, or read too "
              "slowly.",
              {}, sessions.lost_push_count);
  out.gauge("corolane_session_groups", "Groups that sessions follow.", {}, sessions.group_count);
  out.counter("corolane_session_group_pushes_total",
              "News of groups that sessions were pushed, and the ends of groups.", {},
              sessions.group_push_count);
  out.counter("corolane_session_group_gaps_total",
              "Times that a session missed news of a group: what publishes them has moved, or the "
              "client reads too slowly.",
              {}, sessions.group_gap_count);
}

void collect_admission(const rpc::Server::Statistics& statistics, MetricWriter& out) {
  out.gauge("corolane_rpc_calls_waiting", "Calls that wait for their turn.", {},
            statistics.waiting_count);
  out.counter("corolane_rpc_calls_above_share_total",
              "Calls that were refused because their address already has its share of calls.", {},
              statistics.above_share_count);
  out.gauge("corolane_rpc_client_bytes",
            "Memory that clients hold: requests that are not served, replies that are not sent.",
            {}, statistics.client_bytes.bytes);
  out.counter("corolane_rpc_clients_evicted_total",
              "Clients that were closed because they held too much memory.", {},
              statistics.client_bytes.evicted_count);
  out.counter("corolane_rpc_calls_without_memory_total",
              "Calls that were refused because clients hold too much memory.", {},
              statistics.client_bytes.refused_count);
  for (std::size_t i = 0; i < priority_names.size(); ++i) {
    out.counter("corolane_rpc_calls_shed_total", "Calls that were refused for overload.",
                {{"priority", priority_names[i]}}, statistics.shed_counts[i]);
    out.histogram("corolane_rpc_queue_seconds", "Time from a request to the start of its handler.",
                  {{"priority", priority_names[i]}}, statistics.queue_delay_us[i], queue_buckets);
  }
}

void collect_errors(const rpc::Server::MethodStatistics& method, MetricWriter& out) {
  const auto write = [&](std::string_view fault, std::string_view code, std::uint64_t count) {
    out.counter("corolane_rpc_call_errors_total",
                "Calls that have ended with an error, by whose fault it was.",
                {{"code", code}, {"fault", fault}, {"method", method.full_name}}, count);
  };
  const auto code_internal = static_cast<std::size_t>(Code::internal);
  // A series at zero, so that there is a rate before the first error.
  if (method.fault_counts[code_internal] == 0) write("server", to_string(Code::internal), 0);
  for_each_code(method.fault_counts,
                [&](std::string_view code, std::uint64_t count) { write("server", code, count); });
  ErrorCounts of_callers = method.error_counts;
  for (std::size_t i = 0; i < of_callers.size(); ++i) of_callers[i] -= method.fault_counts[i];
  for_each_code(of_callers,
                [&](std::string_view code, std::uint64_t count) { write("caller", code, count); });
}

void collect_method(const rpc::Server::MethodStatistics& method, const Exemplars* exemplars,
                    MetricWriter& out) {
  const std::initializer_list<MetricLabel> labels = {{"method", method.full_name}};
  out.counter("corolane_rpc_calls_total", "Calls that have ended, with or without an error.",
              labels, method.call_count);
  collect_errors(method, out);
  constexpr std::string_view refused_help =
      "Calls that were refused before they began, by whose fault that was.";
  out.counter("corolane_rpc_calls_refused_total", refused_help,
              {{"fault", "server"}, {"method", method.full_name}}, method.refused_fault_count);
  out.counter("corolane_rpc_calls_refused_total", refused_help,
              {{"fault", "caller"}, {"method", method.full_name}},
              method.refused_count - method.refused_fault_count);
  out.gauge("corolane_rpc_calls_running", "Calls whose handler runs.", labels,
            method.running_count);
  out.histogram(
      "corolane_rpc_call_seconds", "Time from a request to its reply.", labels, method.latency_us,
      call_buckets,
      exemplars == nullptr ? std::span<const MetricExemplar>() : exemplars->of(method.full_name));
}

}  // namespace

void collect_server(const rpc::Server::Statistics& statistics, MetricWriter& out,
                    const Exemplars* exemplars) {
  collect_connections(statistics, out);
  collect_sessions(statistics.sessions, out);
  collect_admission(statistics, out);
  out.gauge("corolane_rpc_streams", "Streams that are open.", {}, statistics.stream_count);
  out.counter("corolane_rpc_stray_exceptions_total", "Exceptions that escaped a handler.", {},
              statistics.stray_exception_count);
  for (const rpc::Server::MethodStatistics& method : statistics.methods) {
    collect_method(method, exemplars, out);
  }
}

void collect_client(std::string_view peer, const rpc::Client::Statistics& statistics,
                    MetricWriter& out) {
  const std::initializer_list<MetricLabel> labels = {{"peer", peer}};
  out.counter("corolane_rpc_client_calls_total", "Calls that were made, not counting retries.",
              labels, statistics.call_count);
  for_each_code(statistics.error_counts, [&](std::string_view code, std::uint64_t count) {
    out.counter("corolane_rpc_client_errors_total", "Calls that failed, after any retries.",
                {{"code", code}, {"peer", peer}}, count);
  });
  out.counter("corolane_rpc_client_retries_total", "Attempts after the first one.", labels,
              statistics.retry_count);
  out.counter("corolane_rpc_client_connections_total", "Connections that were made.", labels,
              statistics.connect_count);
  out.gauge("corolane_rpc_client_calls_pending", "Calls that wait for their reply.", labels,
            statistics.pending_count);
}

}  // namespace corolane::framework
