// SPDX-License-Identifier: MIT
// The bars are the project's own goals.
#include "tools/benchmarks/node_rows.h"

#include <string>
#include <utility>

#include "tools/benchmarks/network/closed_loop.h"
#include "tools/benchmarks/network/pages.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/network/server_cost.h"
#include "tools/benchmarks/ours/node.h"

namespace corolane::bench {
namespace {

constexpr Load load = {.connection_count = 1, .in_flight = 1000};
constexpr std::size_t task_count = 10'000;

Measure constant(double value) {
  return [value]() -> Result<Measurement> { return Measurement{.value = value}; };
}

Row page_row(std::string name, std::string operation, double milliseconds_max, Measure ours) {
  return {.info = {.name = std::move(name),
                   .unit = "ms",
                   .operation = std::move(operation),
                   .limit_name = std::to_string(static_cast<int>(milliseconds_max)) + " ms",
                   .bar = {.bound = Bound::at_most, .ratio = 1}},
          .ours = std::move(ours),
          .limit = constant(milliseconds_max)};
}

}  // namespace

Result<std::vector<Row>> node_rows(const std::vector<ProgramPeer>&) {
  const Connect connect = closed_loop(rpc_echo_protocol, load);
  std::vector<Row> rows;
  rows.push_back({.info = {.name = "node/observed",
                           .unit = "%",
                           .operation = "server CPU of a call of a node that is watched, metered, "
                                        "traced and read once a second",
                           .limit_name = "a server without any of that",
                           .bar = {.bound = Bound::at_most, .ratio = 1.015}},
                  .ours = relative_server_cost(serve_observed_node, serve_bare_rpc, connect),
                  .limit = constant(100),
                  .round_factor = 3});
  rows.push_back(page_row("node/group_10000", "/tasks?group=stack with 10,000 waiting tasks", 200,
                          [] { return our_group_page(task_count); }));
  rows.push_back(
      page_row("node/longest_stop",
               "longest CPU time of the thread without a turn for other tasks, during that page", 5,
               [] { return our_longest_stop(task_count, "/tasks?group=stack"); }));
  rows.push_back(page_row("node/tasks_stop", "the same during /tasks with 10,000 waiting tasks", 5,
                          [] { return our_longest_stop(task_count, "/tasks?format=json"); }));
  rows.push_back(page_row("node/pages_10x",
                          "slowest page at ten times the calls that the node can answer", 100,
                          slowest_page_under_overload(
                              serve_observed_node, admin_of_observed_node,
                              {"/", "/health", "/history", "/ready", "/metrics", "/stats", "/tasks",
                               "/tasks?group=stack", "/tasks/1", "/sites", "/methods", "/objects",
                               "/waits", "/stalls", "/heap", "/connections", "/slow", "/log"},
                              10)));
  return rows;
}

}  // namespace corolane::bench
