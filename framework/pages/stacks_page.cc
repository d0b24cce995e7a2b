// SPDX-License-Identifier: MIT
// /tasks/stacks: where the node's coroutines wait; equal stacks are grouped.
#include <cstdint>
#include <utility>

#include "coroutine/inspect/stack_group.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
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
using coroutine::StackGroup;
using coroutine::StackGroups;

// Grouping keeps the page short; these bound the cost of collecting the stacks. The first is for
// each shard, all of which collect in parallel. A part takes at most a millisecond, and calls run
// between parts.
constexpr std::size_t stack_count_max = 100'000;
constexpr std::size_t stacks_per_part = 200;

// Tasks come and go between the parts.
StackGroups stacks_of(const Scheduler& scheduler, std::size_t number, const TaskFilter& filter) {
  StackGroups groups;
  coroutine::TaskWalk walk(scheduler);
  do {
    for (coroutine::TaskInfo& task : walk.next({.count_max = stacks_per_part, .traces = true})) {
      task.scheduler = static_cast<std::uint32_t>(number);
      if (filter.matches(task)) groups.add(task);
    }
  } while (!walk.is_over() && groups.task_count() < stack_count_max && coroutine::yield());
  return groups;
}

Json stacks_json(const std::vector<StackGroup>& groups, std::size_t task_count) {
  Json rows = Json::array();
  for (const StackGroup& group : groups) {
    rows.push_back({{"count", group.count},
                    {"state", to_string(group.state)},
                    {"waiting_for", group.waiting_for},
                    {"longest_in_state_seconds", in_seconds(group.longest)},
                    {"longest_id", address_json(group.longest_task)},
                    {"names", group.names},
                    {"has_more_names", group.has_more_names},
                    {"stack", frames_json(group.frames)}});
  }
  return {{"count", task_count}, {"groups", std::move(rows)}};
}

}  // namespace

Result<net::HttpResponse> stacks_page(Node& node, const net::HttpRequest& request) {
  const auto filter = task_filter_of(request);
  if (!filter) return bad_query(filter.error());
  auto shards = from_each_shard(node, [filter = *filter](const Shard& shard) {
    return stacks_of(shard.scheduler(), shard.index(), filter);
  });
  if (!shards) return shards.error();
  if (node.has_control_loop()) {
    shards->parts.push_back(stacks_of(node.scheduler(), node.shard_count(), *filter));
  }
  const StackGroups all = added_up(
      std::move(shards->parts), [](StackGroups& sum, const StackGroups& more) { sum.add(more); });
  std::vector<StackGroup> groups;
  node.run_with_symbols([&](coroutine::Symbols& symbols) { groups = all.named(symbols); });
  Json json = stacks_json(groups, all.task_count());
  name_silent_shards(json, node, shards->silent);
  return in_format(request, json, [&](const Json& page) {
    return coroutine::to_text(groups) + count_text(page.at("count"), "task", "tasks") + " at " +
           count_text(groups.size(), "place", "places") + "\n";
  });
}

}  // namespace corolane::framework::detail
