// SPDX-License-Identifier: MIT
// One function for each row; the bars are the project's own goals.
#include "tools/benchmarks/edge_rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "tools/benchmarks/floor/epoll_server.h"
#include "tools/benchmarks/network/colyseus_talk.h"
#include "tools/benchmarks/network/connection_memory.h"
#include "tools/benchmarks/network/crowd_echo.h"
#include "tools/benchmarks/network/login_cost.h"
#include "tools/benchmarks/network/never_readers.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/publication_cost.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/network/session_talk.h"
#include "tools/benchmarks/network/signer.h"
#include "tools/benchmarks/ours/edge.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

// How many clients take part.
struct Sizes {
  std::size_t idle;
  std::size_t idle_in_kernel;
  std::size_t following;
  std::size_t never_reading;
};
constexpr Sizes full_sizes{
    .idle = 100'000, .idle_in_kernel = 10'000, .following = 10'000, .never_reading = 20'000};
constexpr Sizes quick_sizes{
    .idle = 10'000, .idle_in_kernel = 2'000, .following = 2'000, .never_reading = 2'000};

constexpr std::size_t echo_client_count = 1'000;
// The connections of well-behaved clients, and what a server opens besides.
constexpr std::size_t other_connection_count = 200;

// One process has luck with its places in the cache, the next one has none: these tell a median
// within a twentieth.
constexpr std::size_t echo_round_factor = 5;
constexpr std::size_t publication_round_factor = 3;

constexpr double bytes_per_session_max = 6'000;
constexpr double login_us_max = 150;

// How a contestant is measured in a row, by its server and what its clients say.
using MeasureOf = std::function<Measure(Serve serve, MakeTalk talk)>;

Measure without_peers(const Serve&, const MakeTalk&) {
  return []() -> Result<Measurement> {
    return Error(Code::unimplemented, "this row is about our sessions");
  };
}

struct EdgeRow {
  Row row;
  MeasureOf measure_of = without_peers;
  std::size_t peer_message_bytes = 0;
};

Bar at_most(double ratio) { return {.bound = Bound::at_most, .ratio = ratio}; }

Measure constant(double value) {
  return [value]() -> Result<Measurement> { return Measurement{.value = value}; };
}

std::string with_commas(std::size_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t place = 0; place < digits.size(); ++place) {
    if (place > 0 && (digits.size() - place) % 3 == 0) text += ',';
    text += digits[place];
  }
  return text;
}

// Where the limit of descriptors is too low for one server.
std::string on_servers(std::size_t session_count) {
  const std::size_t count = servers_needed(session_count);
  if (count == 1) return "";
  return ", on " + std::to_string(count) + " servers, since a process may have " +
         with_commas(connections_per_process()) + " connections";
}

EdgeRow memory_row(std::size_t session_count) {
  const MeasureOf of = [session_count](Serve serve, MakeTalk talk) {
    return connection_memory(MemoryOf::server, std::move(serve), std::move(talk), session_count);
  };
  Row row{.info = {.name = "idle",
                   .unit = "bytes",
                   .operation = "resident memory of the server for each of " +
                                with_commas(session_count) + " idle sessions" +
                                on_servers(session_count),
                   .limit_name = "6 KB",
                   .bar = at_most(1)},
          .ours = of(serve_our_edge, session_talk("idle")),
          .limit = constant(bytes_per_session_max),
          .costly = true};
  return {.row = std::move(row), .measure_of = of, .peer_message_bytes = echo_bytes};
}

EdgeRow kernel_memory_row(std::size_t session_count) {
  const auto of = [session_count](Serve serve, MakeTalk talk) {
    return connection_memory(MemoryOf::kernel, std::move(serve), std::move(talk), session_count);
  };
  Row row{.info = {.name = "idle/kernel",
                   .unit = "bytes",
                   .operation = "memory of the kernel for both ends of the connection of each of " +
                                with_commas(session_count) + " idle sessions",
                   .limit_name = "WebSockets of raw epoll",
                   .bar = at_most(1.1)},
          .ours = of(serve_our_edge, session_talk("idle")),
          .limit = of(serve_websocket_floor, plain_talk(echo_bytes))};
  return {.row = std::move(row)};
}

EdgeRow echo_row() {
  const MeasureOf of = [](Serve serve, MakeTalk talk) {
    return server_cost(std::move(serve), crowd_echo(std::move(talk), echo_client_count));
  };
  const MakeTalk talk = plain_talk(echo_bytes);
  Row row{.info = {.name = "echo/1000x1",
                   .unit = "ns",
                   .operation = "server CPU of the echo of a 64-byte WebSocket message; ours has a"
                                " coroutine for each",
                   .limit_name = "raw epoll with the bare codec",
                   .bar = at_most(1.15)},
          .ours = of(serve_our_websocket, talk),
          .limit = of(serve_websocket_floor, talk),
          .round_factor = echo_round_factor};
  return {.row = std::move(row), .measure_of = of, .peer_message_bytes = echo_bytes};
}

EdgeRow publication_row(std::size_t follower_count, Acknowledgements acknowledgements) {
  const MeasureOf of = [=](Serve serve, MakeTalk talk) {
    return publication_cost(std::move(serve), std::move(talk), follower_count, acknowledgements);
  };
  const bool all_counts = acknowledgements == Acknowledgements::are_included;
  Row row{
      .info = {.name = all_counts ? "publish/acknowledged" : "publish",
               .unit = "ns",
               .operation = "server CPU of a publication to " + with_commas(follower_count) +
                            " sessions, for each of them" +
                            (all_counts ? ", with its acknowledgement, which the limit reads" : ""),
               .limit_name = "its ready bytes written by raw epoll",
               .bar = all_counts ? Bar{.bound = Bound::at_most} : at_most(1.3)},
      .ours = of(serve_our_edge, session_talk("follower")),
      .limit = of(serve_publishing_floor, plain_talk(publication_bytes)),
      .round_factor = publication_round_factor};
  return {.row = std::move(row), .measure_of = of, .peer_message_bytes = publication_bytes};
}

EdgeRow never_reading_row(std::size_t session_count) {
  const std::size_t count =
      std::min(session_count, connections_per_process() - other_connection_count);
  Row row{
      .info = {.name = "never_reading",
               .unit = "%",
               .operation = "p99 of 5,000 calls/s of 100 sessions beside " + with_commas(count) +
                            " that follow an object and never read what it publishes",
               .limit_name = "without the others",
               .bar = at_most(1.2)},
      .ours = latency_beside_never_readers(serve_our_crying_edge, count),
      .limit = constant(100)};
  return {.row = std::move(row)};
}

// Runs `measure` with a signer of its own, in the process of the measurement.
Measure with_signer(std::function<Result<Measurement>(const Signer& signer)> measure) {
  return [measure = std::move(measure)]() -> Result<Measurement> {
    const auto signer = Signer::make();
    if (!signer) return signer.error();
    return measure(*signer);
  };
}

Result<Measurement> login_cost(const Signer& signer) {
  return additional_arrival_cost(serve_our_edge_with_tokens(signer.public_key_pem()),
                                 token_talk(signer), serve_our_anonymous_edge, anonymous_talk())();
}

EdgeRow login_row() {
  Row row{.info = {.name = "login/eddsa",
                   .unit = "us",
                   .operation = "server CPU of a login with a token that is signed with EdDSA,"
                                " beyond that of an anonymous client",
                   .limit_name = "150 us",
                   .bar = at_most(1)},
          .ours = with_signer(login_cost),
          .limit = constant(login_us_max)};
  return {.row = std::move(row)};
}

EdgeRow verification_row() {
  Row row{.info = {.name = "login/eddsa/verified",
                   .unit = "us",
                   .operation = "the same login, beside the verification of its signature alone",
                   .limit_name = "its signature is verified",
                   .bar = {.bound = Bound::at_most}},
          .ours = with_signer(login_cost),
          .limit = with_signer([](const Signer& signer) -> Result<Measurement> {
            auto measured = signer.time_verification();
            if (!measured) return measured;
            return Measurement{.value = measured->value / 1e3};
          })};
  return {.row = std::move(row)};
}

EdgeRow arrival_row() {
  Row row{.info = {.name = "login/arrival",
                   .unit = "us",
                   .operation = "server CPU of a client that arrives: connection, WebSocket, login"
                                " with such a token, session",
                   .limit_name = "an anonymous client that arrives",
                   .bar = {.bound = Bound::at_most}},
          .ours = with_signer([](const Signer& signer) {
            return arrival_cost(serve_our_edge_with_tokens(signer.public_key_pem()),
                                token_talk(signer))();
          }),
          .limit = arrival_cost(serve_our_anonymous_edge, anonymous_talk())};
  return {.row = std::move(row)};
}

std::vector<EdgeRow> our_rows(const Sizes& sizes) {
  std::vector<EdgeRow> rows;
  rows.push_back(memory_row(sizes.idle));
  rows.push_back(kernel_memory_row(sizes.idle_in_kernel));
  rows.push_back(echo_row());
  rows.push_back(publication_row(sizes.following, Acknowledgements::are_excluded));
  rows.push_back(publication_row(sizes.following, Acknowledgements::are_included));
  rows.push_back(never_reading_row(sizes.never_reading));
  rows.push_back(login_row());
  rows.push_back(verification_row());
  rows.push_back(arrival_row());
  return rows;
}

MakeTalk talk_of(const std::string& peer, std::size_t message_bytes) {
  return peer == "colyseus" ? colyseus_talk(message_bytes) : plain_talk(message_bytes);
}

Result<std::vector<Row>> rows_of(const Sizes& sizes, const std::vector<ProgramPeer>& programs) {
  std::vector<Row> rows;
  std::map<std::string, EdgeRow> by_name;
  for (EdgeRow& each : our_rows(sizes)) {
    rows.push_back(each.row);
    by_name.emplace(each.row.info.name, std::move(each));
  }
  for (const ProgramPeer& peer : programs) {
    const auto measure_of = [&](const std::string& name) {
      const EdgeRow& row = by_name.at(name);
      return row.measure_of(program_server(peer.program, {"serve", name}),
                            talk_of(peer.name, row.peer_message_bytes));
    };
    if (auto added = add_program(peer, rows, measure_of); !added) return added.error();
  }
  return rows;
}

}  // namespace

Result<std::vector<Row>> edge_rows(const std::vector<ProgramPeer>& programs) {
  return rows_of(full_sizes, programs);
}

Result<std::vector<Row>> quick_edge_rows(const std::vector<ProgramPeer>& programs) {
  return rows_of(quick_sizes, programs);
}

}  // namespace corolane::bench
