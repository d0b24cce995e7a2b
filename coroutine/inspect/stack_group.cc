// SPDX-License-Identifier: MIT
#include "coroutine/inspect/stack_group.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

#include "coroutine/base/text.h"
#include "coroutine/inspect/folded_frames.h"

namespace corolane::coroutine {
namespace {

std::size_t hash_of(const StackTrace& trace, const StackGroup& group) {
  std::size_t hash = std::hash<std::string_view>{}(group.waiting_for);
  for (const std::uintptr_t address : trace.return_addresses) {
    hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
  }
  return hash;
}

bool wait_alike(const StackGroup& left, const StackGroup& right) {
  return left.state == right.state && left.waiting_for == right.waiting_for;
}

void merge(StackGroup& group, const StackGroup& more) {
  if (more.longest > group.longest) {
    group.longest = more.longest;
    group.longest_task = more.longest_task;
  }
  group.count += more.count;
  group.has_more_names = group.has_more_names || more.has_more_names;
  for (const std::string& name : more.names) {
    if (std::ranges::find(group.names, name) != group.names.end()) continue;
    if (group.names.size() < StackGroup::name_count_max) {
      group.names.push_back(name);
    } else {
      group.has_more_names = true;
    }
  }
}

}  // namespace

void StackGroups::add(const TaskInfo& task) {
  add(task.trace, {.frames = {},
                   .state = task.state,
                   .waiting_for = task.waiting_for,
                   .count = 1,
                   .names = {task.name},
                   .longest_task = task.address(),
                   .longest = task.in_state});
}

void StackGroups::add(const StackGroups& others) {
  for (const Traced& other : others.groups_) add(other.trace, other.group);
}

void StackGroups::add(const StackTrace& trace, const StackGroup& group) {
  task_count_ += group.count;
  const std::size_t hash = hash_of(trace, group);
  const auto [begin, end] = by_hash_.equal_range(hash);
  const auto found = std::find_if(begin, end, [&](const auto& entry) {
    const Traced& known = groups_[entry.second];
    return wait_alike(known.group, group) && known.trace == trace;
  });
  if (found != end) return merge(groups_[found->second].group, group);
  by_hash_.emplace(hash, groups_.size());
  groups_.push_back({.trace = trace, .group = group});
}

std::vector<StackGroup> StackGroups::named(Symbols& symbols) const {
  std::vector<StackGroup> named;
  for (const Traced& traced : groups_) {
    auto frames = symbols.frames(traced.trace);
    const auto equal = std::ranges::find_if(named, [&](const StackGroup& group) {
      return wait_alike(group, traced.group) && group.frames == frames;
    });
    if (equal != named.end()) {
      merge(*equal, traced.group);
      continue;
    }
    named.push_back(traced.group);
    named.back().frames = std::move(frames);
  }
  std::ranges::sort(named, std::greater{}, [](const StackGroup& group) {
    return std::tuple(group.count, group.longest, group.longest_task);
  });
  return named;
}

std::vector<StackGroup> group_by_stack(const std::vector<TaskInfo>& tasks, Symbols& symbols) {
  StackGroups groups;
  for (const TaskInfo& task : tasks) groups.add(task);
  return groups.named(symbols);
}

std::string to_text(const std::vector<StackGroup>& groups) {
  std::string text;
  for (const StackGroup& group : groups) {
    text.append(std::to_string(group.count)).append(group.count == 1 ? " task " : " tasks ");
    text.append(to_string(group.state));
    if (!group.waiting_for.empty()) text.append(", waits for ").append(group.waiting_for);
    std::array<char, 64> longest;
    const double seconds = std::chrono::duration<double>(group.longest).count();
    std::snprintf(longest.data(), longest.size(), ", for up to %.3f s", seconds);
    text.append(longest.data());
    text.append(" (task ").append(to_string(group.longest_task)).append("): ");
    for (const std::string& name : group.names) {
      if (&name != &group.names.front()) text.append(", ");
      text.append(quote(name));
    }
    text.append(group.has_more_names ? ", ...\n" : "\n");
    text.append(to_text(folded(group.frames)));
  }
  return text;
}

}  // namespace corolane::coroutine
