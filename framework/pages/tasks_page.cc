// SPDX-License-Identifier: MIT
// /tasks: every coroutine of the node; /tasks/{id}: one of them, with its stack.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "coroutine/task_info.h"
#include "coroutine/task_walk.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"
#include "framework/pages/detail/task_filter.h"

namespace corolane::framework::detail {
namespace {

using coroutine::Scheduler;
using coroutine::TaskInfo;

// A longer page would not be read, and building it would delay calls.
constexpr std::size_t task_rows_max = 1'000;

// A filter visits tasks in parts, and calls run between them.
constexpr std::size_t tasks_per_part = 1'000;
constexpr std::size_t rows_per_part = 100;

struct Tasks {
  std::vector<TaskInfo> oldest;  // The oldest is first.
  std::size_t count = 0;         // All tasks, or those that match the filter.
  std::size_t stackless_count = 0;
};

// `number` is that of the shard; that of the control loop is one more than the last.
TaskInfo of_loop(TaskInfo task, std::size_t number) {
  task.scheduler = static_cast<std::uint32_t>(number);
  return task;
}

Tasks all_tasks_of(const Scheduler& scheduler, std::size_t number) {
  const auto statistics = scheduler.statistics();
  Tasks tasks{
      .oldest = {}, .count = statistics.task_count, .stackless_count = statistics.stackless_count};
  for (TaskInfo& task : scheduler.tasks({.count_max = task_rows_max})) {
    tasks.oldest.push_back(of_loop(std::move(task), number));
  }
  return tasks;
}

// Tasks come and go between the parts.
Tasks filtered_tasks_of(const Scheduler& scheduler, std::size_t number, const TaskFilter& filter) {
  Tasks tasks;
  coroutine::TaskWalk walk(scheduler);
  do {
    for (TaskInfo& task : walk.next({.count_max = tasks_per_part})) {
      task.scheduler = static_cast<std::uint32_t>(number);
      if (!filter.matches(task)) continue;
      ++tasks.count;
      if (tasks.oldest.size() < task_rows_max) tasks.oldest.push_back(std::move(task));
    }
  } while (!walk.is_over() && coroutine::yield());
  return tasks;
}

Tasks tasks_of(const Scheduler& scheduler, std::size_t number, const TaskFilter& filter) {
  return filter.is_any() ? all_tasks_of(scheduler, number)
                         : filtered_tasks_of(scheduler, number, filter);
}

// The oldest tasks of all shards; each shard's are sorted already.
Tasks merged(std::vector<Tasks> shards) {
  Tasks all;
  std::vector<std::span<TaskInfo>> rest;
  for (Tasks& shard : shards) {
    all.count += shard.count;
    all.stackless_count += shard.stackless_count;
    if (!shard.oldest.empty()) rest.emplace_back(shard.oldest);
  }
  const auto age = [](std::span<const TaskInfo> tasks) { return tasks.front().age; };
  while (!rest.empty() && all.oldest.size() < task_rows_max) {
    const auto next = std::ranges::max_element(rest, {}, age);
    all.oldest.push_back(std::move(next->front()));
    *next = next->subspan(1);
    if (next->empty()) rest.erase(next);
  }
  return all;
}

Json task_json(const TaskInfo& task) {
  return {{"id", address_json(task.address())},
          {"name", task.name},
          {"state", to_string(task.state)},
          {"cancelled", task.cancelled},
          {"waiting_for", task.waiting_for},
          {"in_state_seconds", in_seconds(task.in_state)},
          {"age_seconds", in_seconds(task.age)},
          {"cpu_seconds", in_seconds(task.cpu)},
          {"stack_used_bytes", task.stack_used_bytes == 0 ? Json() : Json(task.stack_used_bytes)},
          {"stack_size_bytes", task.stack_size_bytes},
          {"spawned_at", site_text(task.site)}};
}

Json tasks_json(const Tasks& tasks) {
  Json rows = Json::array();
  for (const TaskInfo& task : tasks.oldest) {
    rows.push_back(task_json(task));
    // Others run meanwhile: a page of a thousand rows takes some milliseconds.
    if (rows.size() % rows_per_part == 0) static_cast<void>(coroutine::yield());
  }
  return {{"count", tasks.count},
          {"stackless_count", tasks.stackless_count},
          {"tasks", std::move(rows)}};
}

std::string state_cell(const Json& task) {
  return cell_text(task.at("state")) + (task.at("cancelled").is_true() ? ", cancelled" : "");
}

// "1.2 of 64K": the part that is in use where the task waits.
std::string stack_cell(const Json& task) {
  const Json& used = task.at("stack_used_bytes");
  const std::string size = fixed_text(task.at("stack_size_bytes").number() / 1024, 0) + "K";
  return used.is_null() ? size : fixed_text(used.number() / 1024, 1) + " of " + size;
}

std::string table_of_tasks(const Json& tasks) {
  return table_text(tasks,
                    "ID: id, NAME: name, STATE: state, WAITS FOR: waiting_for, "
                    "SINCE: in_state_seconds, AGE: age_seconds, CPU: cpu_seconds, "
                    "STACK: stack_used_bytes, SPAWNED AT: spawned_at",
                    {{"state", state_cell}, {"stack_used_bytes", stack_cell}});
}

std::string tasks_text(const Json& page) {
  std::string text = table_of_tasks(page.at("tasks")) + total_text(page, "tasks", "oldest");
  if (const Json& stackless = page.at("stackless_count"); stackless.number() > 0) {
    text += count_text(stackless, "stackless coroutine", "stackless coroutines") +
            " besides: /tasks/stackless\n";
  }
  return text;
}

std::string task_text(const Json& task) {
  const std::string stack = frames_text(task.at("stack"));
  return table_of_tasks(Json::array({task})) +
         (stack.empty() ? "no stack: it has not begun or has ended\n" : stack);
}

using Address = std::optional<coroutine::TaskAddress>;

// Fails with unavailable when the shard of the task hangs.
Result<std::optional<TaskInfo>> find_task(Node& node, const Address& address) {
  const auto find = [address](const Scheduler& scheduler, std::size_t number) {
    std::optional<TaskInfo> task;
    if (!address || address->scheduler != number) return task;
    if (auto found = scheduler.task(address->id)) task = of_loop(*std::move(found), number);
    return task;
  };
  if (node.has_control_loop()) {
    if (auto task = find(node.scheduler(), node.shard_count())) return task;
  }
  auto shards = from_each_shard(
      node, [find](const Shard& shard) { return find(shard.scheduler(), shard.index()); });
  if (!shards) return shards.error();
  for (auto& task : shards->parts) {
    if (task) return std::move(task);
  }
  for (const ShardSilence& silence : shards->silent) {
    if (!address || address->scheduler != silence.shard) continue;
    return Error(Code::unavailable, silence_text(node, silence));
  }
  return std::optional<TaskInfo>();
}

}  // namespace

Result<net::HttpResponse> tasks_page(Node& node, const net::HttpRequest& request) {
  const auto group = request.query("group");
  if (group == "stack") return stacks_page(node, request);
  if (!group.empty()) {
    return bad_query(Error(Code::invalid_argument, "group is stack, as in /tasks?group=stack"));
  }
  const auto filter = task_filter_of(request);
  if (!filter) return bad_query(filter.error());
  auto shards = from_each_shard(node, [filter = *filter](const Shard& shard) {
    return tasks_of(shard.scheduler(), shard.index(), filter);
  });
  if (!shards) return shards.error();
  if (node.has_control_loop()) {
    shards->parts.push_back(tasks_of(node.scheduler(), node.shard_count(), *filter));
  }
  Json json = tasks_json(merged(std::move(shards->parts)));
  name_silent_shards(json, node, shards->silent);
  return in_format(request, json, tasks_text);
}

Result<net::HttpResponse> task_page(Node& node, const net::HttpRequest& request) {
  const std::string_view text = request.path().substr(std::string_view("/tasks/").size());
  const auto address = coroutine::parse_task_address(text);
  auto found = find_task(node, address);
  if (!found) return found.error();
  const auto& task = *found;
  if (!task) {
    return net::HttpResponse{
        .status = 404,
        .body = "no task " + escaped(text) + " is alive; /tasks lists those that are\n"};
  }
  Json json = task_json(*task);
  node.run_with_symbols([&](coroutine::Symbols& symbols) {
    json["stack"] = frames_json(symbols.frames(task->trace));
  });
  return in_format(request, json, task_text);
}

}  // namespace corolane::framework::detail
