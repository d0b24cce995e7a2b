#include "coroutine/stack_group.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "coroutine/base/text.h"

namespace corolane::coroutine {
namespace {

using Key = const TaskInfo*;

struct Hash {
  std::size_t operator()(Key task) const {
    std::size_t hash = std::hash<std::string_view>{}(task->waiting_for);
    for (const std::uintptr_t address : task->trace.return_addresses) {
      hash = (hash ^ address) * 0x9e3779b97f4a7c15u;
    }
    return hash;
  }
};

struct Equal {
  bool operator()(Key left, Key right) const {
    return left->state == right->state && left->waiting_for == right->waiting_for &&
           left->trace == right->trace;
  }
};

// Of the group that the task belongs to; makes it if there is none.
std::size_t group_of(std::vector<StackGroup>& groups, const TaskInfo& task,
                     std::vector<SourceFrame> frames) {
  const auto found = std::ranges::find_if(groups, [&](const StackGroup& group) {
    return group.state == task.state && group.waiting_for == task.waiting_for &&
           group.frames == frames;
  });
  const auto index = static_cast<std::size_t>(found - groups.begin());
  if (found == groups.end()) {
    groups.push_back({.frames = std::move(frames),
                      .state = task.state,
                      .waiting_for = task.waiting_for,
                      .names = {}});
  }
  return index;
}

void add(StackGroup& group, const TaskInfo& task) {
  ++group.count;
  if (group.count == 1 || task.in_state > group.longest) {
    group.longest = task.in_state;
    group.longest_id = task.id;
  }
  if (std::ranges::find(group.names, task.name) != group.names.end()) return;
  if (group.names.size() < StackGroup::name_count_max) {
    group.names.push_back(task.name);
  } else {
    group.has_more_names = true;
  }
}

}  // namespace

std::vector<StackGroup> group_by_stack(const std::vector<TaskInfo>& tasks, Symbols& symbols) {
  std::vector<StackGroup> groups;
  // Of very many tasks few traces are different: only those are named.
  std::unordered_map<Key, std::size_t, Hash, Equal> group_of_trace;
  for (const TaskInfo& task : tasks) {
    const auto [place, is_new] = group_of_trace.try_emplace(&task);
    if (is_new) place->second = group_of(groups, task, symbols.frames(task.trace));
    add(groups[place->second], task);
  }
  std::ranges::sort(groups, std::greater{}, [](const StackGroup& group) {
    return std::tuple(group.count, group.longest, group.longest_id);
  });
  return groups;
}

std::string to_text(const std::vector<StackGroup>& groups) {
  std::string text;
  for (const StackGroup& group : groups) {
    text.append(std::to_string(group.count)).append(group.count == 1 ? " task " : " tasks ");
    text.append(to_string(group.state));
    if (!group.waiting_for.empty()) text.append(", waits for ").append(group.waiting_for);
    std::array<char, 64> longest;
    const double seconds = std::chrono::duration<double>(group.longest).count();
    std::snprintf(longest.data(), longest.size(), ", for up to %.3f s (task %zu): ", seconds,
                  static_cast<std::size_t>(group.longest_id));
    text.append(longest.data());
    for (const std::string& name : group.names) {
      if (&name != &group.names.front()) text.append(", ");
      text.append(quote(name));
    }
    text.append(group.has_more_names ? ", ...\n" : "\n");
    text.append(to_text(group.frames));
  }
  return text;
}

}  // namespace corolane::coroutine
