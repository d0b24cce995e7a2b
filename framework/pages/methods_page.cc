// SPDX-License-Identifier: MIT
// /methods: the cost of each method's handlers.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/base/histogram.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "rpc/observe/method_cost.h"
#include "rpc/server/server.h"

namespace corolane::framework::detail {
namespace {

struct MethodRow {
  std::uint64_t call_count = 0;
  std::uint64_t running_count = 0;
  std::uint64_t fault_count = 0;    // Calls that failed by the server's fault.
  std::uint64_t refusal_count = 0;  // All other calls that failed.
  // The time until the handler began: in the server's queue, or for the object's turn.
  Duration queue_time{};
  std::optional<Histogram> latency_us = {};  // For services.
  rpc::MethodCost cost = {};

  void add(const MethodRow& more) {
    call_count += more.call_count;
    running_count += more.running_count;
    fault_count += more.fault_count;
    refusal_count += more.refusal_count;
    queue_time += more.queue_time;
    if (latency_us && more.latency_us) latency_us->add(*more.latency_us);
    cost.add(more.cost);
  }
};

enum class MethodKind : std::uint8_t { service, object };

// By full name; all shards have the same methods. For a method of objects a server counts the
// routing of its calls.
using MethodRows = std::map<std::pair<std::string_view, MethodKind>, MethodRow>;

void add_objects(const Shard& shard, MethodRows& rows) {
  if (shard.host() == nullptr) return;
  for (const auto& type : shard.host()->types()) {
    for (const HostedType::MethodRecord& record : type->method_records()) {
      rows[{record.full_name, MethodKind::object}] = {
          .call_count = record.call_count,
          .running_count = record.running_count,
          .fault_count = record.fault_count,
          .refusal_count = record.error_count - record.fault_count,
          .queue_time = record.queue_time,
          .cost = record.meter.cost()};
    }
  }
}

MethodRows rows_of(const Shard& shard) {
  MethodRows rows;
  for (const auto& method : shard.rpc_server().statistics().methods) {
    rows[{method.full_name, MethodKind::service}] = {.call_count = method.call_count,
                                                     .running_count = method.running_count,
                                                     .fault_count = method.fault_count(),
                                                     .refusal_count = method.refusal_count(),
                                                     .queue_time = method.queue_time,
                                                     .latency_us = method.latency_us,
                                                     .cost = method.cost};
  }
  add_objects(shard, rows);
  return rows;
}

void add_rows(MethodRows& sum, const MethodRows& more) {
  for (const auto& [key, row] : more) {
    const auto [at, is_new] = sum.try_emplace(key, row);
    if (!is_new) at->second.add(row);
  }
}

// The most called first; those that nobody calls come last.
std::vector<const MethodRows::value_type*> by_load(const MethodRows& rows) {
  std::vector<const MethodRows::value_type*> sorted;
  for (const auto& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto* row) { return row->second.call_count; });
  return sorted;
}

// --- What one call takes, on average

template <typename T>
Json mean(T sum, std::uint64_t count) {
  if (count == 0) return {};
  return rounded(static_cast<double>(sum) / static_cast<double>(count), 1e9);
}

Json mean_seconds(Duration sum, std::uint64_t count) { return mean(in_seconds(sum), count); }

Json quantile_json(const MethodRow& row, double part) {
  if (!row.latency_us || row.latency_us->count() == 0) return {};
  return static_cast<double>(row.latency_us->quantile(part)) / 1e6;
}

// [[upper bound, count], ...], so that a client that reads them twice can compute the quantiles of
// the time between.
Json latency_buckets(const MethodRow& row) {
  Json counts = Json::array();
  if (!row.latency_us) return counts;
  row.latency_us->for_each_bucket([&](std::uint64_t bound, std::uint64_t count) {
    counts.push_back(Json::array({bound, count}));
  });
  return counts;
}

Json method_json(std::string_view name, MethodKind kind, const MethodRow& row) {
  const rpc::MethodCost& cost = row.cost;
  const Duration waited = std::max(cost.run_time - cost.cpu, Duration::zero());
  const bool is_measured = cost.stack_count > 0;
  return {{"method", name},
          {"kind", kind == MethodKind::object ? "object" : "service"},
          {"calls", row.call_count},
          {"running", row.running_count},
          {"errors", row.fault_count},
          {"refusals", row.refusal_count},
          {"p50_seconds", quantile_json(row, 0.5)},
          {"p99_seconds", quantile_json(row, 0.99)},
          {"queue_seconds", mean_seconds(row.queue_time, row.call_count)},
          {"run_seconds", mean_seconds(cost.run_time, cost.timed_count)},
          {"cpu_seconds", mean_seconds(cost.cpu, cost.timed_count)},
          {"wait_seconds", mean_seconds(waited, cost.timed_count)},
          {"suspensions", mean(cost.suspension_count, cost.timed_count)},
          {"allocations", mean(cost.allocation_count, cost.timed_count)},
          {"allocated_bytes", mean(cost.allocated_bytes, cost.timed_count)},
          {"timed_calls", cost.timed_count},
          {"stack_used_bytes", is_measured ? Json(cost.stack_used_bytes_max) : Json()},
          {"stack_size_bytes", is_measured ? Json(cost.stack_size_bytes) : Json()},
          {"suggested_stack_bytes", is_measured ? Json(cost.suggested_stack_size_bytes()) : Json()},
          {"measured_stacks", cost.stack_count}};
}

std::string methods_text(const Json& page) {
  const Json& methods = page.at("methods");
  if (methods.size() == 0) return "no methods\n";
  return table_text(methods,
                    "METHOD: method, OF: kind, CALLS: calls, RUNNING: running, ERRORS: errors, "
                    "REFUSALS: refusals, P50 US: p50_seconds, P99 US: p99_seconds, "
                    "QUEUE US: queue_seconds, CPU US: cpu_seconds, WAIT US: wait_seconds, "
                    "SWITCHES: suspensions, ALLOCS: allocations, ALLOC BYTES: allocated_bytes, "
                    "USED KIB: stack_used_bytes, STACK KIB: stack_size_bytes, "
                    "ENOUGH KIB: suggested_stack_bytes") +
         "\nerrors are the server's fault, refusals the caller's; those of calls that never began "
         "are not in CALLS\naverages per call; CPU US to ALLOC BYTES are those of the timed calls: "
         "the first ones, "
         "then one in " +
         std::to_string(rpc::MethodMeter::interval) +
         "\nUSED KIB is the deepest measured use of a stack; ENOUGH KIB has room for half as much "
         "again\n";
}

}  // namespace

Result<net::HttpResponse> methods_page(Node& node, const net::HttpRequest& request) {
  auto shards = from_each_shard(node, [](const Shard& shard) { return rows_of(shard); });
  if (!shards) return shards.error();
  const MethodRows rows = added_up(std::move(shards->parts), add_rows);
  const bool with_buckets = request.query("buckets") == "yes";
  Json methods = Json::array();
  for (const auto* const method : by_load(rows)) {
    const auto& [key, row] = *method;
    Json json = method_json(key.first, key.second, row);
    if (with_buckets) json["latency_us"] = latency_buckets(row);
    methods.push_back(std::move(json));
  }
  Json page = {{"methods", std::move(methods)}};
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, methods_text);
}

}  // namespace corolane::framework::detail
