// SPDX-License-Identifier: MIT
// One function for each group of rows; the bars are the project's own goals.
#include "tools/benchmarks/net_rows.h"

#include <map>
#include <string>
#include <utility>

#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/closed_loop.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/ours/servers.h"
#include "tools/benchmarks/peers/uv_server.h"

namespace corolane::bench {
namespace {

constexpr Load websocket_load = {.connection_count = 1'000, .in_flight = 1};
constexpr Load http_load = {.connection_count = 100, .in_flight = 1};

// A row and the load for each of its servers.
struct NetRow {
  Row row;
  Connect connect;
};

NetRow echo_row(std::string name, Load load) {
  const Connect connect = closed_loop(echo_protocol, load);
  Row row{.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = "server CPU of the echo of a 64-byte message; ours has a"
                                " coroutine for each",
                   .limit_name = "raw epoll",
                   .bar = {.ratio = 1.10}},
          .ours = server_cost(serve_our_echo, connect),
          .limit = server_cost(serve_echo_floor, connect),
          .peers = {{.name = "libuv", .measure = server_cost(serve_uv_echo, connect)}}};
  return {.row = std::move(row), .connect = connect};
}

NetRow websocket_row() {
  const Connect connect = closed_loop(websocket_protocol, websocket_load);
  Row row{.info = {.name = "ws/1000x1",
                   .unit = "ns",
                   .operation = "server CPU of the echo of a 64-byte WebSocket message",
                   .limit_name = "raw epoll without WebSocket",
                   .bar = {.ratio = 1.15}},
          .ours = server_cost(serve_our_websocket, connect),
          .limit = server_cost(serve_echo_floor, closed_loop(echo_protocol, websocket_load))};
  return {.row = std::move(row), .connect = connect};
}

NetRow http_row(std::string name, std::string operation, Serve ours, MakeProtocol protocol,
                Bar bar) {
  const Connect connect = closed_loop(protocol, http_load);
  Row row{.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = std::move(operation),
                   .limit_name = "a ready-made reply on bare libuv",
                   .bar = std::move(bar)},
          .ours = server_cost(std::move(ours), connect),
          .limit = server_cost(serve_uv_http, connect)};
  return {.row = std::move(row), .connect = connect};
}

std::vector<NetRow> our_rows() {
  std::vector<NetRow> rows;
  rows.push_back(echo_row("echo/100x1", {.connection_count = 100, .in_flight = 1}));
  rows.push_back(echo_row("echo/1000x1", {.connection_count = 1'000, .in_flight = 1}));
  rows.push_back(echo_row("echo/100x16", {.connection_count = 100, .in_flight = 16}));
  rows.push_back(websocket_row());
  rows.push_back(http_row("http/plain", "server CPU of a GET that is answered with a fixed body",
                          serve_our_http, http_plain_protocol, {}));
  rows.push_back(http_row("http/json", "server CPU of a unary call by the Connect protocol",
                          serve_our_http_calls, http_json_protocol, {.ratio = 2.0}));
  return rows;
}

}  // namespace

Result<std::vector<Row>> net_rows(const std::vector<ProgramPeer>& programs) {
  std::vector<Row> rows;
  std::map<std::string, Connect> loads;
  for (NetRow& each : our_rows()) {
    loads[each.row.info.name] = std::move(each.connect);
    rows.push_back(std::move(each.row));
  }
  for (const ProgramPeer& peer : programs) {
    const auto measure_of = [&](const std::string& row) {
      return server_cost(program_server(peer.program, {"serve", row}), loads.at(row));
    };
    if (auto added = add_program(peer, rows, measure_of); !added) return added.error();
  }
  return rows;
}

}  // namespace corolane::bench
