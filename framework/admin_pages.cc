#include "framework/admin_pages.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "coroutine/base/histogram.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "coroutine/spawn_site.h"
#include "coroutine/stack_group.h"
#include "coroutine/stack_pool.h"
#include "coroutine/symbols.h"
#include "coroutine/task.h"
#include "coroutine/task_info.h"
#include "framework/node.h"
#include "framework/version.h"

namespace corolane::framework {
namespace {

using Json = nlohmann::ordered_json;

// A page of so many lines is read by nobody, and its making would hold up the calls.
constexpr std::size_t task_rows_max = 1'000;

// Stacks are grouped, so the page stays short; what is bounded is its making. In parts, each a
// millisecond or less, between which the calls go on.
constexpr std::size_t stack_count_max = 100'000;
constexpr std::size_t stacks_per_part = 200;

net::HttpResponse json_response(const Json& json) {
  // Names come from anywhere; what is no UTF-8 in them is shown as a replacement character.
  return {.content_type = "application/json",
          .body = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"};
}

// To one part in `parts`.
double rounded(double value, double parts) { return std::round(value * parts) / parts; }

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Json to_json(const Histogram& histogram) {
  return {{"count", histogram.count()},      {"mean", rounded(histogram.mean(), 10)},
          {"p50", histogram.quantile(0.5)},  {"p90", histogram.quantile(0.9)},
          {"p99", histogram.quantile(0.99)}, {"max", histogram.max()}};
}

std::string_view to_string(coroutine::StackPool::Guard guard) {
  return guard == coroutine::StackPool::Guard::madvise ? "madvise" : "mprotect";
}

// --- /stats

Json node_section(const Node& node) {
  return {{"name", node.config().name},
          {"version", version()},
          {"pid", ::getpid()},
          {"uptime_seconds", rounded(in_seconds(now() - node.created_at()), 1000)},
          {"stopping", node.is_stopping()},
          {"listen", net::to_string(node.endpoints().listen)},
          {"admin", net::to_string(node.endpoints().admin)}};
}

Json coroutine_section(const coroutine::Scheduler& scheduler) {
  const auto statistics = scheduler.statistics();
  return {{"switch_ns", to_json(statistics.switch_ns)},
          {"create_ns", to_json(statistics.create_ns)},
          {"tasks", statistics.task_count},
          {"tasks_peak", statistics.task_count_peak},
          {"created", statistics.created_count},
          {"switches", statistics.switch_count},
          {"turns", statistics.turn_count},
          {"measures_cpu", statistics.measures_cpu},
          {"loop_cpu_seconds", in_seconds(statistics.loop_cpu)},
          {"stray_exceptions", statistics.stray_exception_count}};
}

Json stack_pool_section(const coroutine::StackPool& pool) {
  const auto statistics = pool.statistics();
  const std::uint64_t acquired = statistics.hit_count + statistics.miss_count;
  const double hit_rate =
      acquired == 0 ? 0.0
                    : static_cast<double>(statistics.hit_count) / static_cast<double>(acquired);
  return {{"in_use", statistics.in_use_count},
          {"idle", statistics.idle_count},
          {"cold", statistics.cold_count},
          {"peak", statistics.in_use_count_peak},
          {"demand", statistics.demand_count},
          {"cap", statistics.count_max},
          {"hits", statistics.hit_count},
          {"misses", statistics.miss_count},
          {"hit_rate", rounded(hit_rate, 10'000)},
          {"trimmed", statistics.trimmed_count},
          {"refused", statistics.refused_count},
          {"mapped_bytes", statistics.mapped_bytes},
          {"committed_bytes", statistics.committed_bytes},
          {"guard", to_string(statistics.guard)}};
}

Json rpc_section(const rpc::Server& server) {
  const auto statistics = server.statistics();
  Json methods = Json::object();
  for (const rpc::Server::MethodStatistics& method : statistics.methods) {
    methods[method.full_name] = {{"calls", method.call_count},
                                 {"errors", method.error_count},
                                 {"refused", method.refused_count},
                                 {"running", method.running_count},
                                 {"latency_us", to_json(method.latency_us)}};
  }
  return {{"connections", statistics.connection_count},
          {"accepted", statistics.accepted_count},
          {"running", statistics.running_count},
          {"protocol_errors", statistics.protocol_error_count},
          {"stray_exceptions", statistics.stray_exception_count},
          {"methods", std::move(methods)}};
}

net::HttpResponse stats_page(const Node& node) {
  coroutine::Scheduler& scheduler = node.scheduler();
  return json_response({{"node", node_section(node)},
                        {"coroutine", coroutine_section(scheduler)},
                        {"stack_pool", stack_pool_section(scheduler.stacks())},
                        {"timers", {{"armed", scheduler.timers().armed_count()}}},
                        {"rpc", rpc_section(node.rpc_server())}});
}

// --- /tasks and /tasks/{id}

// "chess/room.cc:42": from the root of the repository for our own files.
std::string site_text(const std::source_location& site) {
  constexpr std::string_view this_file = __FILE__;
  constexpr std::string_view root =
      this_file.substr(0, this_file.size() - std::string_view("framework/admin_pages.cc").size());
  std::string_view file = site.file_name();
  if (file.starts_with(root)) file.remove_prefix(root.size());
  return std::string(file) + ":" + std::to_string(site.line());
}

Json to_json(const coroutine::TaskInfo& task) {
  return {{"id", task.id},
          {"name", task.name},
          {"state", to_string(task.state)},
          {"cancelled", task.cancelled},
          {"waiting_for", task.waiting_for},
          {"in_state_seconds", in_seconds(task.in_state)},
          {"age_seconds", in_seconds(task.age)},
          {"cpu_seconds", in_seconds(task.cpu)},
          {"spawned_at", site_text(task.site)}};
}

Json to_json(const std::vector<coroutine::SourceFrame>& frames) {
  Json json = Json::array();
  for (const coroutine::SourceFrame& frame : frames) {
    json.push_back({{"function", frame.function}, {"file", frame.file}, {"line", frame.line}});
  }
  return json;
}

net::HttpResponse tasks_as_json(const std::vector<coroutine::TaskInfo>& oldest,
                                std::size_t task_count) {
  Json rows = Json::array();
  for (const coroutine::TaskInfo& task : oldest) rows.push_back(to_json(task));
  return json_response({{"count", task_count}, {"tasks", std::move(rows)}});
}

template <std::size_t column_count>
using Row = std::array<std::string, column_count>;

template <std::size_t column_count>
void append_table(std::string& out, const std::vector<Row<column_count>>& rows) {
  std::array<std::size_t, column_count> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out.append(row[i]).append(widths[i] - row[i].size() + 2, ' ');
    }
    out.append(row.back()).append("\n");
  }
}

std::string seconds_text(Duration duration) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.3fs", in_seconds(duration));
  return text.data();
}

std::string table_of(const std::vector<coroutine::TaskInfo>& tasks) {
  std::vector<Row<8>> rows = {
      {"ID", "NAME", "STATE", "WAITS FOR", "SINCE", "AGE", "CPU", "SPAWNED AT"}};
  for (const coroutine::TaskInfo& task : tasks) {
    rows.push_back({std::to_string(task.id), escaped(task.name),
                    std::string(to_string(task.state)) + (task.cancelled ? ", cancelled" : ""),
                    task.waiting_for.empty() ? "-" : task.waiting_for, seconds_text(task.in_state),
                    seconds_text(task.age), seconds_text(task.cpu), site_text(task.site)});
  }
  std::string text;
  append_table(text, rows);
  return text;
}

net::HttpResponse tasks_as_text(const std::vector<coroutine::TaskInfo>& oldest,
                                std::size_t task_count) {
  std::string text = table_of(oldest);
  text.append(std::to_string(task_count)).append(task_count == 1 ? " task" : " tasks");
  if (task_count > oldest.size()) {
    text.append(", the oldest ").append(std::to_string(oldest.size())).append(" shown");
  }
  return {.body = text + "\n"};
}

// Calls as_json() or as_text(), as the request wishes.
template <typename AsJson, typename AsText>
net::HttpResponse in_format(const net::HttpRequest& request, AsJson as_json, AsText as_text) {
  const auto format = request.query("format");
  if (format == "json") return as_json();
  if (format.empty() || format == "text") return as_text();
  return {
      .status = 400,
      .body = "format is text or json, as in " + std::string(request.path()) + "?format=json\n"};
}

net::HttpResponse tasks_page(const Node& node, const net::HttpRequest& request) {
  const auto oldest = node.scheduler().tasks({.count_max = task_rows_max});
  const std::size_t task_count = node.scheduler().statistics().task_count;
  return in_format(
      request, [&] { return tasks_as_json(oldest, task_count); },
      [&] { return tasks_as_text(oldest, task_count); });
}

net::HttpResponse task_page(const Node& node, const net::HttpRequest& request) {
  const std::string_view text = request.path().substr(std::string_view("/tasks/").size());
  coroutine::TaskId id = 0;
  const bool is_id = std::from_chars(text.begin(), text.end(), id).ptr == text.end();
  const auto task = is_id ? node.scheduler().task(id) : std::nullopt;
  if (!task) {
    return {.status = 404,
            .body = "no task " + escaped(text) + " is alive; /tasks lists those that are\n"};
  }
  coroutine::Symbols symbols;
  const auto frames = symbols.frames(task->trace);
  return in_format(
      request,
      [&] {
        Json json = to_json(*task);
        json["stack"] = to_json(frames);
        return json_response(json);
      },
      [&] {
        return net::HttpResponse{.body =
                                     table_of({*task}) +
                                     (frames.empty() ? "no stack: it has not begun or has ended\n"
                                                     : coroutine::to_text(frames))};
      });
}

// --- /tasks/stacks

// Tasks come and go between the parts.
std::vector<coroutine::TaskInfo> traced_tasks(const coroutine::Scheduler& scheduler) {
  std::vector<coroutine::TaskInfo> tasks;
  while (tasks.size() < stack_count_max) {
    auto part = scheduler.tasks({.after = tasks.empty() ? 0 : tasks.back().id,
                                 .count_max = stacks_per_part,
                                 .traces = true});
    std::ranges::move(part, std::back_inserter(tasks));
    if (part.size() < stacks_per_part || !coroutine::yield()) break;
  }
  return tasks;
}

net::HttpResponse stacks_as_json(const std::vector<coroutine::StackGroup>& groups,
                                 std::size_t task_count) {
  Json rows = Json::array();
  for (const coroutine::StackGroup& group : groups) {
    rows.push_back({{"count", group.count},
                    {"state", to_string(group.state)},
                    {"waiting_for", group.waiting_for},
                    {"longest_in_state_seconds", in_seconds(group.longest)},
                    {"longest_id", group.longest_id},
                    {"names", group.names},
                    {"has_more_names", group.has_more_names},
                    {"stack", to_json(group.frames)}});
  }
  return json_response({{"count", task_count}, {"groups", std::move(rows)}});
}

net::HttpResponse stacks_page(const Node& node, const net::HttpRequest& request) {
  const auto tasks = traced_tasks(node.scheduler());
  coroutine::Symbols symbols;
  const auto groups = coroutine::group_by_stack(tasks, symbols);
  return in_format(
      request, [&] { return stacks_as_json(groups, tasks.size()); },
      [&] {
        return net::HttpResponse{.body = coroutine::to_text(groups) + std::to_string(tasks.size()) +
                                         " tasks at " + std::to_string(groups.size()) +
                                         " places\n"};
      });
}

// --- /sites

std::string place_text(const coroutine::SpawnSite& site) {
  return site.place.line() == 0 ? "elsewhere" : site_text(site.place);
}

net::HttpResponse sites_as_json(const std::vector<coroutine::SpawnSite>& sites) {
  Json rows = Json::array();
  for (const coroutine::SpawnSite& site : sites) {
    rows.push_back({{"spawned_at", place_text(site)},
                    {"first_name", site.task_name},
                    {"spawned", site.spawned_count},
                    {"alive", site.alive_count},
                    {"cpu_seconds", in_seconds(site.cpu)},
                    {"stack_measured", site.measured_count},
                    {"stack_used_bytes_max", site.stack_used_bytes_max},
                    {"stack_size_bytes", site.stack_size_bytes}});
  }
  return json_response({{"sites", std::move(rows)}});
}

net::HttpResponse sites_as_text(const std::vector<coroutine::SpawnSite>& sites) {
  std::vector<Row<7>> rows = {
      {"CPU", "SPAWNED", "ALIVE", "DEEPEST", "STACK", "FIRST NAME", "SPAWNED AT"}};
  for (const coroutine::SpawnSite& site : sites) {
    const bool is_measured = site.measured_count > 0;
    rows.push_back({seconds_text(site.cpu), std::to_string(site.spawned_count),
                    std::to_string(site.alive_count),
                    is_measured ? std::to_string(site.stack_used_bytes_max) : "-",
                    is_measured ? std::to_string(site.stack_size_bytes) : "-",
                    escaped(site.task_name), place_text(site)});
  }
  std::string text;
  append_table(text, rows);
  return {.body = std::move(text)};
}

net::HttpResponse sites_page(const Node& node, const net::HttpRequest& request) {
  auto sites = node.scheduler().sites();
  std::ranges::sort(sites, std::greater{},
                    [](const auto& site) { return std::tuple(site.cpu, site.spawned_count); });
  return in_format(
      request, [&] { return sites_as_json(sites); }, [&] { return sites_as_text(sites); });
}

}  // namespace

void add_node_pages(AdminServer& admin, Node& node) {
  admin.page("/health", "ok, or 503 while the node stops", [&node](const net::HttpRequest&) {
    return node.is_stopping() ? net::HttpResponse{.status = 503, .body = "stopping\n"}
                              : net::HttpResponse{.body = "ok\n"};
  });
  admin.page("/metrics", "all metrics, for Prometheus", [&node](const net::HttpRequest&) {
    return net::HttpResponse{.content_type = Metrics::content_type, .body = node.metrics().text()};
  });
  admin.page("/stats", "what the node has done so far, as JSON",
             [&node](const net::HttpRequest&) { return stats_page(node); });
  admin.page("/tasks", "every coroutine: what it waits for, since when, where it was spawned",
             [&node](const net::HttpRequest& request) { return tasks_page(node, request); });
  admin.page("/sites", "every place that spawns: its coroutines' CPU time and deepest stack use",
             [&node](const net::HttpRequest& request) { return sites_page(node, request); });
  admin.page("/tasks/stacks", "where they wait: their stacks, equal ones together",
             [&node](const net::HttpRequest& request) { return stacks_page(node, request); });
  admin.page("/tasks/{id}", "one of them, with its stack",
             [&node](const net::HttpRequest& request) { return task_page(node, request); });
}

}  // namespace corolane::framework
