// SPDX-License-Identifier: MIT
#include "tools/corolane/top/sample.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "coroutine/base/text.h"

namespace corolane::tools::cli::top {
namespace {

using Json = nlohmann::json;

// `read` may throw exceptions of Json.
template <typename T, typename Read>
Result<T> parsed(std::string_view text, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& exception) {
    return Error(Code::invalid_argument,
                 std::string("the page is not as expected: ") + exception.what());
  }
}

std::uint64_t number_of(const Json& json, const char* key) {
  return json.at(key).get<std::uint64_t>();
}

double real_of(const Json& json, const char* key) { return json.at(key).get<double>(); }

// The escaped text, which stays on one line.
std::string text_of(const Json& json, const char* key) {
  return escaped(json.at(key).get<std::string>());
}

Buckets buckets_of(const Json& histogram) {
  return {histogram.at("buckets").get<decltype(Buckets::counts)>()};
}

std::vector<std::string> lines_of(const Json& stack) {
  std::vector<std::string> lines;
  for (const Json& frame : stack) {
    std::string line = text_of(frame, "function");
    if (const std::string file = text_of(frame, "file"); !file.empty()) {
      line += " (" + file + ":" + std::to_string(number_of(frame, "line")) + ")";
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

TaskSample task_of(const Json& json) {
  const Json& id = json.at("id");
  return {
      .id = id.is_string() ? text_of(json, "id") : id.dump(),
      .name = text_of(json, "name"),
      .state = text_of(json, "state") + (json.at("cancelled").get<bool>() ? ", cancelled" : ""),
      .waiting_for = text_of(json, "waiting_for"),
      .in_state_seconds = real_of(json, "in_state_seconds"),
      .age_seconds = real_of(json, "age_seconds"),
      .cpu_seconds = real_of(json, "cpu_seconds"),
      .spawned_at = text_of(json, "spawned_at"),
      .stack = json.contains("stack") ? lines_of(json.at("stack")) : std::vector<std::string>()};
}

void read_coroutines(const Json& json, StatsSample& stats) {
  stats.tasks = number_of(json, "tasks");
  stats.ready = number_of(json, "ready");
  stats.created = number_of(json, "created");
  stats.switches = number_of(json, "switches");
  stats.switch_ns = buckets_of(json.at("switch_ns"));
  stats.create_ns = buckets_of(json.at("create_ns"));
}

void read_calls(const Json& json, StatsSample& stats) {
  stats.connections = number_of(json, "connections");
  stats.running_calls = number_of(json, "running");
  stats.waiting_calls = number_of(json, "waiting");
  for (const Json& delay : json.at("queue_delay_us")) stats.queue_delay_us.add(buckets_of(delay));
}

MethodSample method_of(const Json& method) {
  return {.name = text_of(method, "method"),
          .is_of_objects = method.at("kind") == "object",
          .calls = number_of(method, "calls"),
          .errors = number_of(method, "errors"),
          .refusals = number_of(method, "refusals"),
          .running = number_of(method, "running"),
          .latency_us = {method.at("latency_us").get<decltype(Buckets::counts)>()}};
}

StatsSample stats_of(const Json& json) {
  StatsSample stats;
  const Json& node = json.at("node");
  stats.name = text_of(node, "name");
  stats.version = text_of(node, "version");
  stats.pid = number_of(node, "pid");
  stats.uptime_seconds = real_of(node, "uptime_seconds");
  stats.is_stopping = node.at("stopping").get<bool>();
  read_coroutines(json.at("coroutine"), stats);
  const Json& pool = json.at("stack_pool");
  stats.stack_hits = number_of(pool, "hits");
  stats.stack_misses = number_of(pool, "misses");
  stats.stack_bytes = number_of(pool, "committed_bytes");
  read_calls(json.at("rpc"), stats);
  stats.objects = number_of(json.at("objects"), "active");
  stats.stalls = number_of(json.at("stalls"), "count");
  stats.stall_seconds = real_of(json.at("stalls"), "seconds");
  for (const Json& shard : json.at("shards")) {
    stats.shards.push_back({number_of(shard, "shard"), real_of(shard, "thread_cpu_seconds")});
  }
  if (const auto control = json.find("control"); control != json.end()) {
    stats.control_cpu_seconds = real_of(*control, "thread_cpu_seconds");
  }
  if (const auto silent = json.find("silent_shards"); silent != json.end()) {
    for (const Json& shard : *silent) stats.silent_shards.push_back(text_of(shard, "text"));
  }
  return stats;
}

StackSample stack_of(const Json& json) {
  std::string names;
  for (const Json& name : json.at("names")) {
    names.append(names.empty() ? "" : ", ").append(escaped(name.get<std::string>()));
  }
  return {.count = number_of(json, "count"),
          .state = text_of(json, "state"),
          .waiting_for = text_of(json, "waiting_for"),
          .longest_seconds = real_of(json, "longest_in_state_seconds"),
          .names = names + (json.at("has_more_names").get<bool>() ? ", ..." : ""),
          .stack = lines_of(json.at("stack"))};
}

}  // namespace

std::uint64_t Buckets::count() const {
  std::uint64_t sum = 0;
  for (const auto& [bound, count] : counts) sum += count;
  return sum;
}

std::uint64_t Buckets::quantile(double q) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count())));
  std::uint64_t sum = 0;
  for (const auto& [bound, count] : counts) {
    sum += count;
    if (count > 0 && sum >= rank) return bound;
  }
  return 0;
}

Buckets Buckets::since(const Buckets& before) const {
  const std::map<std::uint64_t, std::uint64_t> known(before.counts.begin(), before.counts.end());
  Buckets rest;
  for (const auto& [bound, count] : counts) {
    const auto old = known.find(bound);
    const std::uint64_t old_count = old == known.end() ? 0 : old->second;
    if (count > old_count) rest.counts.emplace_back(bound, count - old_count);
  }
  return rest;
}

void Buckets::add(const Buckets& more) {
  std::map<std::uint64_t, std::uint64_t> sum(counts.begin(), counts.end());
  for (const auto& [bound, count] : more.counts) sum[bound] += count;
  counts.assign(sum.begin(), sum.end());
}

Result<StatsSample> read_stats(std::string_view json) {
  return parsed<StatsSample>(json, stats_of);
}

Result<MethodsSample> read_methods(std::string_view json) {
  return parsed<MethodsSample>(json, [](const Json& page) {
    MethodsSample sample{.methods = {}, .is_whole = !page.contains("silent_shards")};
    for (const Json& method : page.at("methods")) sample.methods.push_back(method_of(method));
    return sample;
  });
}

Result<TasksSample> read_tasks(std::string_view json) {
  return parsed<TasksSample>(json, [](const Json& page) {
    TasksSample tasks{.count = number_of(page, "count"), .tasks = {}};
    for (const Json& task : page.at("tasks")) tasks.tasks.push_back(task_of(task));
    return tasks;
  });
}

Result<TaskSample> read_task(std::string_view json) { return parsed<TaskSample>(json, task_of); }

Result<std::vector<StackSample>> read_stacks(std::string_view json) {
  return parsed<std::vector<StackSample>>(json, [](const Json& page) {
    std::vector<StackSample> stacks;
    for (const Json& group : page.at("groups")) stacks.push_back(stack_of(group));
    return stacks;
  });
}

}  // namespace corolane::tools::cli::top
