// SPDX-License-Identifier: MIT
// One function for each group of rows; the bars are the project's own goals.
#include "tools/benchmarks/rpc_rows.h"

#include <array>
#include <map>
#include <string>
#include <utility>

#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/abuse.h"
#include "tools/benchmarks/network/closed_loop.h"
#include "tools/benchmarks/network/overload.h"
#include "tools/benchmarks/network/program.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/ours/rpc_client.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

constexpr const char* floor_name = "raw epoll, protobuf on an arena";
constexpr const char* throughput_name = "rpc/throughput";

constexpr Load one_by_64 = {.connection_count = 1, .in_flight = 64};
constexpr Load one_by_1000 = {.connection_count = 1, .in_flight = 1'000};

struct RpcRow {
  Row row;
  Load load;
};

Bar at_most(double ratio, std::vector<PeerBar> peers = {}) {
  return {.bound = Bound::at_most, .ratio = ratio, .peers = std::move(peers)};
}

RpcRow call_row(std::string name, Load load, Bar bar, MakeProtocol protocol = rpc_echo_protocol) {
  const Connect connect = closed_loop(protocol, load);
  Row row{.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = "server CPU of a unary call, 100 bytes there and back",
                   .limit_name = floor_name,
                   .bar = std::move(bar)},
          .ours = server_cost(serve_our_rpc, connect),
          .limit = server_cost(serve_rpc_floor, connect)};
  return {.row = std::move(row), .load = load};
}

RpcRow throughput_row() {
  Row row{.info = {.name = throughput_name,
                   .unit = "calls/s",
                   .operation = "calls per second of a client and a server of the same kind",
                   .limit_name = floor_name,
                   .bar = {.bound = Bound::at_least,
                           .p99_us_max = 2'000,
                           .peers = {{"grpc_cpp", 5}, {"grpc_go", 5}, {"tonic", 5}}}},
          .ours = throughput(serve_our_rpc, our_rpc_client(one_by_1000)),
          .limit = throughput(serve_rpc_floor, closed_loop(rpc_echo_protocol, one_by_1000))};
  return {.row = std::move(row), .load = one_by_1000};
}

RpcRow allocations_row() {
  Row row{.info = {.name = "rpc/allocations",
                   .unit = "calls",
                   .operation = "allocations of the server for a unary call",
                   .limit_name = "the allocations of its messages",
                   .bar = at_most(1)},
          .ours = server_allocations(serve_our_rpc, closed_loop(rpc_echo_protocol, one_by_64)),
          .limit = allocations_of_messages};
  return {.row = std::move(row), .load = one_by_64};
}

Measure constant(double value) {
  return [value]() -> Result<Measurement> { return Measurement{.value = value}; };
}

RpcRow overload_row(std::string name, Serve serve, Way way, double factor) {
  return {
      .row = {.info = {.name = std::move(name),
                       .unit = "%",
                       .operation = "goodput at a multiple of the calls that the server can"
                                    " answer; each burns the time of " +
                                    std::to_string(raw_calls_per_burn(way)) +
                                    " raw calls, with a deadline of 100 ms",
                       .limit_name = "the capacity of the server",
                       .bar = {.bound = Bound::at_least,
                               .ratio = 0.9,
                               .p99_us_max = std::chrono::microseconds(overload_deadline).count()}},
              .ours = goodput_under_overload(std::move(serve), way, factor),
              .limit = constant(100)},
      .load = {}};
}

RpcRow recovery_row() {
  return {.row = {.info = {.name = "overload/recovery",
                           .unit = "s",
                           .operation = "time to recovery, after the load fell from ten"
                                        " times the capacity to half of it",
                           .limit_name = "10 s",
                           .bar = at_most(1)},
                  .ours = recovery_from_overload(serve_our_rpc),
                  .limit = constant(static_cast<double>(recovery_max.count())),
                  .costly = true},
          .load = {}};
}

RpcRow abuse_row(const std::string& name, const std::string& abusers, Abuse abuse) {
  return {.row = {.info = {.name = "abuse/" + name,
                           .unit = "%",
                           .operation = "p99 of 5,000 calls/s beside " + abusers,
                           .limit_name = "without the abusers",
                           .bar = at_most(1.2)},
                  .ours = latency_under(abuse, serve_our_client_door),
                  .limit = constant(100)},
          .load = {}};
}

RpcRow abuse_memory_row(const std::string& name, const std::string& abusers, Abuse abuse) {
  constexpr double mebibytes_max = 256;
  return {.row = {.info = {.name = "abuse/" + name + "/memory",
                           .unit = "MiB",
                           .operation = "memory that a server takes for " + abusers,
                           .limit_name = "256 MiB",
                           .bar = at_most(1)},
                  .ours = memory_under(abuse, serve_our_client_door),
                  .limit = constant(mebibytes_max),
                  .costly = true},
          .load = {}};
}

struct Abusers {
  const char* name;
  const char* description;
  Abuse abuse;
};

std::vector<RpcRow> our_rows() {
  std::vector<RpcRow> rows;
  rows.push_back(call_row("rpc/1x1", {.connection_count = 1, .in_flight = 1}, {}));
  rows.push_back(call_row("rpc/10x1", {.connection_count = 10, .in_flight = 1}, at_most(1.10)));
  rows.push_back(call_row("rpc/1x64", one_by_64, at_most(2.0, {{"tonic", 10}, {"grpc_cpp", 20}})));
  rows.push_back(
      call_row("rpc/1x1000", one_by_1000, at_most(3.3, {{"tonic", 10}, {"grpc_cpp", 25}})));
  rows.push_back(call_row("rpc/1x1000/parked", one_by_1000, {}, rpc_park_protocol));
  rows.push_back(call_row("rpc/10x100", {.connection_count = 10, .in_flight = 100},
                          at_most(2.5, {{"tonic", 10}, {"grpc_cpp", 25}})));
  rows.push_back(throughput_row());
  rows.push_back(allocations_row());
  rows.push_back(overload_row("overload/2x", serve_our_rpc, Way::frames, 2));
  rows.push_back(overload_row("overload/5x", serve_our_rpc, Way::frames, 5));
  rows.push_back(overload_row("overload/10x", serve_our_rpc, Way::frames, 10));
  rows.push_back(overload_row("overload/10x/http", serve_our_http_calls, Way::http, 10));
  rows.push_back(recovery_row());
  for (const auto& [name, abusers, abuse] : std::to_array<Abusers>(
           {{"half_open", "20,000 half-open connections", Abuse::half_open},
            {"never_reading", "1,000 connections that never read", Abuse::never_reading},
            {"slow_readers", "20,000 connections that read slowly", Abuse::slow_readers},
            {"one_address", "10,000 connections from one address", Abuse::one_address},
            {"half_tls", "20,000 handshakes that stop half-way", Abuse::half_tls},
            {"http_flood", "11,000 connections that flood HTTP", Abuse::http_flood}})) {
    rows.push_back(abuse_row(name, abusers, abuse));
    rows.push_back(abuse_memory_row(name, abusers, abuse));
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> rpc_rows(const std::vector<ProgramPeer>& programs) {
  std::vector<Row> rows;
  std::map<std::string, Load> loads;
  for (RpcRow& each : our_rows()) {
    loads[each.row.info.name] = each.load;
    rows.push_back(std::move(each.row));
  }
  for (const ProgramPeer& peer : programs) {
    const auto measure_of = [&](const std::string& row) {
      const Serve serve = program_server(peer.program, {"serve"});
      const Connect connect = program_client(peer.program, loads.at(row));
      return row == throughput_name ? throughput(serve, connect) : server_cost(serve, connect);
    };
    if (auto added = add_program(peer, rows, measure_of); !added) return added.error();
  }
  return rows;
}

}  // namespace corolane::bench
