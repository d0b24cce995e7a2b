// SPDX-License-Identifier: MIT
// Each row describes one operation in a sentence; the bars are the project's own goals.
#include "tools/benchmarks/object_rows.h"

#include <string>
#include <utility>

#include "tools/benchmarks/ours/functions.h"
#include "tools/benchmarks/ours/objects.h"
#include "tools/benchmarks/ours/shards.h"

namespace corolane::bench {
namespace {

// The limit for a million idle objects: 1.5 GB together.
constexpr double bytes_per_object_max = 1'500;

Bar at_most(double ratio) { return {.bound = Bound::at_most, .ratio = ratio}; }

Row call_row(std::string name, std::string operation, Distance distance) {
  return {.info = {.name = std::move(name),
                   .unit = "ns",
                   .operation = std::move(operation),
                   .limit_name = "the same call of a plain service",
                   .bar = at_most(1.3)},
          .ours = [distance] { return our_object_call(distance); },
          .limit = [distance] { return our_plain_call(distance); }};
}

Row activation_row(std::string name, StoreUsed store) {
  return {.info = {.name = std::move(name),
                   .unit = "us",
                   .operation = "first call of an object, 64 at a time, in wall-clock time",
                   .limit_name = "the store's part of it",
                   .bar = {.bound = Bound::at_most}},
          .ours = [store] { return our_activation(store); },
          .limit = [store] { return our_seal(store); }};
}

Row durable_row(std::string name, StoreUsed store) {
  return {.info = {.name = std::move(name),
                   .unit = "us",
                   .operation = "durable call, 64 objects at a time, in wall-clock time",
                   .limit_name = "its write alone",
                   .bar = at_most(2)},
          .ours = [store] { return our_durable_call(store); },
          .limit = [store] { return our_write(store); },
          .round_factor = 2};
}

}  // namespace

Result<std::vector<Row>> object_rows(const std::vector<ProgramPeer>&) {
  std::vector<Row> rows;
  rows.push_back({.info = {.name = "call/same_shard",
                           .unit = "ns",
                           .operation = "call of an object on the caller's shard",
                           .limit_name = "round trip over two channels",
                           .bar = at_most(4)},
                  .ours = [] { return our_object_call(Distance::same_shard); },
                  .limit = our_pingpong});
  rows.push_back(call_row("call/other_shard",
                          "CPU of both threads for a call from one to the other, 64 at a time",
                          Distance::other_shard));
  rows.push_back(call_row("call/other_node",
                          "CPU of both ends for a call over loopback, 64 at a time",
                          Distance::other_node));
  rows.push_back(activation_row("activate/sqlite", StoreUsed::sqlite));
  rows.push_back(activation_row("activate/redis", StoreUsed::redis));
  rows.push_back(durable_row("durable/sqlite", StoreUsed::sqlite));
  rows.push_back(durable_row("durable/redis", StoreUsed::redis));
  rows.push_back({.info = {.name = "outbox",
                           .unit = "ns",
                           .operation = "CPU of a call that the outbox stores and delivers",
                           .limit_name = "both durable calls without an outbox",
                           .bar = at_most(4)},
                  .ours = our_outbox_call,
                  .limit = our_call_pair});
  rows.push_back({.info = {.name = "publish/1000",
                           .unit = "ns",
                           .operation = "CPU of a publication to 1,000 subscribers on four shards",
                           .limit_name = "its bytes written to a socket 1,000 times",
                           .bar = at_most(1.3)},
                  .ours = [] { return our_publication(1'000, 4); },
                  .limit = [] { return our_socket_writes(1'000); }});
  rows.push_back({.info = {.name = "publish/one_shard",
                           .unit = "ns",
                           .operation = "CPU of a publication to 1,000 subscribers on one shard",
                           .limit_name = "a value over each of 1,000 channels",
                           .bar = at_most(2.5)},
                  .ours = [] { return our_publication(1'000, 1); },
                  .limit = [] { return our_fan_out(1'000); }});
  rows.push_back(
      {.info = {.name = "memory/1000000",
                .unit = "bytes",
                .operation = "resident memory of one idle object of a million",
                .limit_name = "1.5 GB for a million",
                .bar = at_most(1)},
       .ours = [] { return our_object_memory(1'000'000); },
       .limit = []() -> Result<Measurement> { return Measurement{.value = bytes_per_object_max}; },
       .costly = true});
  rows.push_back({.info = {.name = "throughput/2_shards",
                           .unit = "moves/s",
                           .operation = "moves in chess games on all shards, from all shards",
                           .limit_name = "those of one shard",
                           .bar = {.bound = Bound::at_least, .ratio = 1.7}},
                  .ours = [] { return our_chess_moves(2); },
                  .limit = [] { return our_chess_moves(1); }});
  // The cost of routing alone: the handler does nothing.
  rows.push_back({.info = {.name = "throughput/2_shards_idle",
                           .unit = "calls/s",
                           .operation = "no-op calls of objects on all shards",
                           .limit_name = "those of one shard",
                           .bar = {.bound = Bound::at_least}},
                  .ours = [] { return our_object_calls(2); },
                  .limit = [] { return our_object_calls(1); }});
  return rows;
}

}  // namespace corolane::bench
