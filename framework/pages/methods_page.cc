// /methods: the cost of each method's handlers.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "coroutine/base/histogram.h"
#include "framework/node/each_shard.h"
#include "framework/objects/detail/object_host.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/pages.h"
#include "rpc/observe/method_cost.h"

namespace corolane::framework::detail {
namespace {

struct MethodRow {
  std::uint64_t call_count = 0;
  std::uint64_t running_count = 0;
  std::uint64_t error_count = 0;
  std::uint64_t refused_count = 0;
  // The time until the handler began: in the server's queue, or for the object's turn.
  Duration queue_time{};
  std::optional<Histogram> latency_us = {};  // For services.
  rpc::MethodCost cost = {};

  void add(const MethodRow& more) {
    call_count += more.call_count;
    running_count += more.running_count;
    error_count += more.error_count;
    refused_count += more.refused_count;
    queue_time += more.queue_time;
    if (latency_us && more.latency_us) latency_us->add(*more.latency_us);
    cost.add(more.cost);
  }
};

enum class Kind : std::uint8_t { service, object };

// By full name; all shards have the same methods. For a method of objects a server counts the
// routing of its calls.
using MethodRows = std::map<std::pair<std::string_view, Kind>, MethodRow>;

void add_objects(const Shard& shard, MethodRows& rows) {
  if (shard.host() == nullptr) return;
  for (const auto& type : shard.host()->types()) {
    for (const HostedType::MethodRecord& record : type->method_records()) {
      rows[{record.full_name, Kind::object}] = {.call_count = record.call_count,
                                                .running_count = record.running_count,
                                                .error_count = record.error_count,
                                                .queue_time = record.queue_time,
                                                .cost = record.meter.cost()};
    }
  }
}

MethodRows rows_of(const Shard& shard) {
  MethodRows rows;
  for (const auto& method : shard.rpc_server().statistics().methods) {
    rows[{method.full_name, Kind::service}] = {.call_count = method.call_count,
                                               .running_count = method.running_count,
                                               .error_count = method.error_count,
                                               .refused_count = method.refused_count,
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

// --- What one call takes, on average

template <typename T>
std::optional<double> mean(T sum, std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return static_cast<double>(sum) / static_cast<double>(count);
}

std::optional<double> mean(Duration sum, std::uint64_t count) {
  if (count == 0) return std::nullopt;
  return in_seconds(sum) / static_cast<double>(count);
}

struct Costs {
  std::optional<double> queue_seconds;
  std::optional<double> run_seconds;
  std::optional<double> cpu_seconds;
  std::optional<double> wait_seconds;
  std::optional<double> suspensions;
  std::optional<double> allocations;
  std::optional<double> allocated_bytes;
};

Costs costs_of(const MethodRow& row) {
  const rpc::MethodCost& cost = row.cost;
  return {
      .queue_seconds = mean(row.queue_time, row.call_count),
      .run_seconds = mean(cost.run_time, cost.timed_count),
      .cpu_seconds = mean(cost.cpu, cost.timed_count),
      .wait_seconds = mean(std::max(cost.run_time - cost.cpu, Duration::zero()), cost.timed_count),
      .suspensions = mean(cost.suspension_count, cost.timed_count),
      .allocations = mean(cost.allocation_count, cost.timed_count),
      .allocated_bytes = mean(cost.allocated_bytes, cost.timed_count)};
}

Json number_json(std::optional<double> number) {
  return number ? Json(rounded(*number, 1e9)) : Json();
}

Json row_json(std::string_view name, Kind kind, const MethodRow& row) {
  const Costs costs = costs_of(row);
  const rpc::MethodCost& cost = row.cost;
  Json json = {{"method", name},
               {"kind", kind == Kind::object ? "object" : "service"},
               {"calls", row.call_count},
               {"running", row.running_count},
               {"errors", row.error_count},
               {"refused", row.refused_count}};
  for (const auto& [key, part] : {std::pair("p50_seconds", 0.5), std::pair("p99_seconds", 0.99)}) {
    json[key] = row.latency_us && row.latency_us->count() > 0
                    ? Json(static_cast<double>(row.latency_us->quantile(part)) / 1e6)
                    : Json();
  }
  json["queue_seconds"] = number_json(costs.queue_seconds);
  json["run_seconds"] = number_json(costs.run_seconds);
  json["cpu_seconds"] = number_json(costs.cpu_seconds);
  json["wait_seconds"] = number_json(costs.wait_seconds);
  json["suspensions"] = number_json(costs.suspensions);
  json["allocations"] = number_json(costs.allocations);
  json["allocated_bytes"] = number_json(costs.allocated_bytes);
  json["timed_calls"] = cost.timed_count;
  const bool is_measured = cost.stack_count > 0;
  json["stack_used_bytes"] = is_measured ? Json(cost.stack_used_bytes_max) : Json();
  json["stack_size_bytes"] = is_measured ? Json(cost.stack_size_bytes) : Json();
  json["suggested_stack_bytes"] = is_measured ? Json(cost.suggested_stack_size_bytes()) : Json();
  json["measured_stacks"] = cost.stack_count;
  return json;
}

std::string microseconds_text(std::optional<double> seconds) {
  return seconds ? fixed_text(*seconds * 1e6, 1) : "-";
}

std::string count_text(std::optional<double> count) { return count ? fixed_text(*count, 1) : "-"; }

std::string stack_text(const rpc::MethodCost& cost) {
  if (cost.stack_count == 0) return "-";
  const auto kibibytes = [](std::size_t bytes) { return std::to_string((bytes + 1023) / 1024); };
  return kibibytes(cost.stack_used_bytes_max) + " of " + kibibytes(cost.stack_size_bytes);
}

std::string suggestion_text(const rpc::MethodCost& cost) {
  if (cost.stack_count == 0) return "-";
  return std::to_string(cost.suggested_stack_size_bytes() / 1024);
}

std::string latency_text(const MethodRow& row, double part) {
  if (!row.latency_us || row.latency_us->count() == 0) return "-";
  return std::to_string(row.latency_us->quantile(part));
}

std::string rows_text(const MethodRows& rows) {
  if (rows.empty()) return "no methods\n";
  std::vector<Row<16>> lines = {{"METHOD", "OF", "CALLS", "RUNNING", "ERRORS", "REFUSED", "P50 US",
                                 "P99 US", "QUEUE US", "CPU US", "WAIT US", "SWITCHES", "ALLOCS",
                                 "ALLOC BYTES", "STACK KIB", "ENOUGH KIB"}};
  for (const auto& [key, row] : rows) {
    const Costs costs = costs_of(row);
    lines.push_back({std::string(key.first), key.second == Kind::object ? "object" : "service",
                     std::to_string(row.call_count), std::to_string(row.running_count),
                     std::to_string(row.error_count), std::to_string(row.refused_count),
                     latency_text(row, 0.5), latency_text(row, 0.99),
                     microseconds_text(costs.queue_seconds), microseconds_text(costs.cpu_seconds),
                     microseconds_text(costs.wait_seconds), count_text(costs.suspensions),
                     count_text(costs.allocations), count_text(costs.allocated_bytes),
                     stack_text(row.cost), suggestion_text(row.cost)});
  }
  return table_text(lines) +
         "\naverages per call; CPU US to ALLOC BYTES are those of the timed calls: the first ones, "
         "then one in " +
         std::to_string(rpc::MethodMeter::interval) +
         "\nSTACK KIB is the deepest measured use; ENOUGH KIB has room for half as much again\n";
}

}  // namespace

Result<net::HttpResponse> methods_page(Node& node, const net::HttpRequest& request) {
  auto shards = from_each_shard(node, [](const Shard& shard) { return rows_of(shard); });
  if (!shards) return shards.error();
  const MethodRows rows = added_up(*std::move(shards), add_rows);
  return in_format(
      request,
      [&] {
        Json methods = Json::array();
        for (const auto& [key, row] : rows) {
          methods.push_back(row_json(key.first, key.second, row));
        }
        return json_response({{"methods", std::move(methods)}});
      },
      [&] { return net::HttpResponse{.body = rows_text(rows)}; });
}

}  // namespace corolane::framework::detail
