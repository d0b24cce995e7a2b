// SPDX-License-Identifier: MIT
#include "tools/corolane/top/frame.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/corolane/figures.h"

namespace corolane::tools::cli::top {
namespace {

using Json = nlohmann::ordered_json;

struct MethodFigures {
  std::string name;
  double calls_per_second = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
  std::uint64_t running = 0;
  double errors_per_second = 0;
  std::uint64_t calls = 0;
};

// The figures for both the screen and programs.
struct Figures {
  double seconds = 0;
  std::vector<double> shard_use;  // 0 to 1, by shard.
  double switches_per_second = 0;
  Buckets switch_ns;
  double created_per_second = 0;
  Buckets create_ns;
  double pool_hits = 0;  // 0 to 1.
  double calls_per_second = 0;
  double errors_per_second = 0;
  Buckets latency_us;
  Buckets queue_delay_us;
  std::uint64_t new_stalls = 0;
  std::vector<MethodFigures> methods;
};

std::uint64_t rise(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

// Rates and differences between two samples of a process; before the first sample, all counts are
// 0.
class Comparison {
 public:
  Comparison(const StatsSample* before, const StatsSample& now) : now_(now) {
    if (before == nullptr || before->pid != now.pid) return;
    if (now.uptime_seconds <= before->uptime_seconds) return;
    // Sums without one shard say nothing about sums of all of them.
    if (!now.silent_shards.empty() || !before->silent_shards.empty()) return;
    before_ = *before;
    seconds_ = now.uptime_seconds - before->uptime_seconds;
  }

  Figures figures() const {
    Figures figures{.seconds = seconds_,
                    .shard_use = shard_use(),
                    .switches_per_second = rate(before_.switches, now_.switches),
                    .switch_ns = now_.switch_ns.since(before_.switch_ns),
                    .created_per_second = rate(before_.created, now_.created),
                    .create_ns = now_.create_ns.since(before_.create_ns),
                    .pool_hits = pool_hits(),
                    .latency_us = {},
                    .queue_delay_us = now_.queue_delay_us.since(before_.queue_delay_us),
                    .new_stalls = seconds_ > 0 ? rise(before_.stalls, now_.stalls) : 0,
                    .methods = {}};
    for (const MethodSample& method : now_.methods) {
      const MethodSample& old = before_of(method);
      const Buckets latency_us = method.latency_us.since(old.latency_us);
      figures.methods.push_back({.name = method.name,
                                 .calls_per_second = rate(old.calls, method.calls),
                                 .p50_us = latency_us.quantile(0.5),
                                 .p99_us = latency_us.quantile(0.99),
                                 .running = method.running,
                                 .errors_per_second = rate(old.errors, method.errors),
                                 .calls = method.calls});
      figures.calls_per_second += figures.methods.back().calls_per_second;
      figures.errors_per_second += figures.methods.back().errors_per_second;
      figures.latency_us.add(latency_us);
    }
    return figures;
  }

 private:
  double rate(std::uint64_t before, std::uint64_t now) const {
    return seconds_ > 0 ? static_cast<double>(rise(before, now)) / seconds_ : 0;
  }

  const MethodSample& before_of(const MethodSample& method) const {
    static const MethodSample none;
    const auto found = std::ranges::find(before_.methods, method.name, &MethodSample::name);
    return found == before_.methods.end() ? none : *found;
  }

  std::vector<double> shard_use() const {
    std::vector<double> uses;
    for (const ShardSample& shard : now_.shards) {
      const auto old = std::ranges::find(before_.shards, shard.number, &ShardSample::number);
      const bool is_known = old != before_.shards.end() && seconds_ > 0;
      const double use = is_known ? (shard.cpu_seconds - old->cpu_seconds) / seconds_ : 0;
      uses.push_back(std::clamp(use, 0.0, 1.0));
    }
    return uses;
  }

  double pool_hits() const {
    const auto hits = static_cast<double>(rise(before_.stack_hits, now_.stack_hits));
    const auto misses = static_cast<double>(rise(before_.stack_misses, now_.stack_misses));
    return hits + misses > 0 ? hits / (hits + misses) : 1;
  }

  const StatsSample& now_;
  StatsSample before_;  // Empty without an earlier sample.
  double seconds_ = 0;
};

Figures figures_of(const Snapshot* before, const Snapshot& now) {
  return Comparison(before == nullptr ? nullptr : &before->stats, now.stats).figures();
}

double ns(std::uint64_t us) { return static_cast<double>(us) * 1e3; }

std::string quantiles_text(const Buckets& buckets, double unit_ns) {
  if (buckets.count() == 0) return "p50 -  p99 -";
  return "p50 " + time_text(static_cast<double>(buckets.quantile(0.5)) * unit_ns) + "  p99 " +
         time_text(static_cast<double>(buckets.quantile(0.99)) * unit_ns);
}

std::string loops_text(const Figures& figures) {
  std::string text;
  for (std::size_t i = 0; i < figures.shard_use.size(); ++i) {
    const double use = figures.shard_use[i];
    std::string bar(10, ' ');
    const auto full = static_cast<std::size_t>(std::lround(use * 10));
    std::fill_n(bar.begin(), full, '|');
    text.append(text.empty() ? "" : "  ").append(std::to_string(i));
    text.append(" [").append(bar).append("] ").append(percent_text(use));
  }
  return text;
}

std::vector<SummaryLine> summary_of(const StatsSample& stats, const Figures& figures) {
  const std::uint64_t waiting = stats.tasks > stats.ready ? stats.tasks - stats.ready : 0;
  const auto number = [](std::uint64_t count) { return count_text(static_cast<double>(count)); };
  const auto rate = [](double per_second) { return count_text(per_second) + "/s"; };
  std::vector<SummaryLine> lines;
  for (const std::string& silent : stats.silent_shards) lines.push_back({"HANGS", silent});
  const std::vector<SummaryLine> rest = {
      {"loops", loops_text(figures)},
      {"tasks", number(stats.tasks) + "  ready " + number(stats.ready) + "  waiting " +
                    number(waiting) + "  created " + rate(figures.created_per_second) + "  " +
                    quantiles_text(figures.create_ns, 1)},
      {"switches", rate(figures.switches_per_second) + "  " + quantiles_text(figures.switch_ns, 1)},
      {"stacks", bytes_text(static_cast<double>(stats.stack_bytes)) + "  pool hits " +
                     percent_text(figures.pool_hits)},
      {"calls", rate(figures.calls_per_second) + "  " + quantiles_text(figures.latency_us, 1e3) +
                    "  running " + number(stats.running_calls) + "  waiting " +
                    number(stats.waiting_calls) + "  errors " + rate(figures.errors_per_second)},
      {"queue",
       quantiles_text(figures.queue_delay_us, 1e3) + "  connections " + number(stats.connections)},
      {"objects", number(stats.objects) + "  stalls " + number(stats.stalls) + ", " +
                      age_text(stats.stall_seconds) +
                      (figures.new_stalls > 0 ? ", NEW: see corolane stalls" : "")},
  };
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

Table methods_of(const Figures& figures) {
  Table table{.columns = {{"CALLS/S", 'c', false},
                          {"P50", 'p', false},
                          {"P99", 'l', false},
                          {"RUNNING", 'a', false},
                          {"ERRORS/S", 'e', false},
                          {"CALLS", 'o', false},
                          {"METHOD", 'n', true}},
              .rows = {},
              .count = figures.methods.size()};
  const auto latency = [](std::uint64_t us) {
    return Cell(us == 0 ? "-" : time_text(ns(us)), static_cast<double>(us));
  };
  const auto number = [](double count) { return Cell(count_text(count), count); };
  for (const MethodFigures& method : figures.methods) {
    table.rows.push_back(
        {.id = method.name,
         .cells = {number(method.calls_per_second), latency(method.p50_us), latency(method.p99_us),
                   number(static_cast<double>(method.running)), number(method.errors_per_second),
                   number(static_cast<double>(method.calls)), Cell(method.name)},
         .details = {}});
  }
  return table;
}

Cell seconds_cell(double seconds) { return {age_text(seconds), seconds}; }
Cell cpu_cell(double seconds) { return {time_text(seconds * 1e9), seconds}; }

Table tasks_of(const TasksSample& tasks) {
  Table table{.columns = {{"ID", 'i', true},
                          {"AGE", 'a', false},
                          {"SINCE", 'l', false},
                          {"CPU", 'c', false},
                          {"STATE", 'e', true},
                          {"WAITS FOR", 'w', true},
                          {"NAME", 'n', true},
                          {"SPAWNED AT", 'o', true}},
              .rows = {},
              .count = tasks.count};
  for (const TaskSample& task : tasks.tasks) {
    table.rows.push_back(
        {.id = task.id,
         .cells = {Cell(task.id), seconds_cell(task.age_seconds),
                   seconds_cell(task.in_state_seconds), cpu_cell(task.cpu_seconds),
                   Cell(task.state), Cell(task.waiting_for.empty() ? "-" : task.waiting_for),
                   Cell(task.name), Cell(task.spawned_at)},
         .details = {}});
  }
  return table;
}

Table stacks_of(const std::vector<StackSample>& stacks) {
  Table table{.columns = {{"TASKS", 'c', false},
                          {"LONGEST", 'l', false},
                          {"STATE", 'e', true},
                          {"WAITS FOR", 'w', true},
                          {"NAMES", 'n', true},
                          {"WHERE", 'o', true}},
              .rows = {},
              .count = stacks.size()};
  for (const StackSample& stack : stacks) {
    std::string id;
    for (const std::string& line : stack.stack) id += line + "\n";
    table.rows.push_back(
        {.id = stack.state + stack.waiting_for + id,
         .cells = {Cell(count_text(static_cast<double>(stack.count)),
                        static_cast<double>(stack.count)),
                   seconds_cell(stack.longest_seconds), Cell(stack.state),
                   Cell(stack.waiting_for.empty() ? "-" : stack.waiting_for), Cell(stack.names),
                   Cell(stack.stack.empty() ? "-" : stack.stack.front())},
         .details = stack.stack});
  }
  return table;
}

Json buckets_json(const Buckets& buckets) {
  return {
      {"count", buckets.count()}, {"p50", buckets.quantile(0.5)}, {"p99", buckets.quantile(0.99)}};
}

Json methods_json(const std::vector<MethodFigures>& methods) {
  Json rows = Json::array();
  for (const MethodFigures& method : methods) {
    rows.push_back({{"method", method.name},
                    {"calls_per_second", method.calls_per_second},
                    {"p50_us", method.p50_us},
                    {"p99_us", method.p99_us},
                    {"running", method.running},
                    {"errors_per_second", method.errors_per_second},
                    {"calls", method.calls}});
  }
  return rows;
}

}  // namespace

const Table& Frame::table(TableKind kind) const {
  switch (kind) {
    case TableKind::tasks:
      return tasks;
    case TableKind::stacks:
      return stacks;
    case TableKind::methods:
      break;
  }
  return methods;
}

Frame make_frame(const Snapshot* before, const Snapshot& now) {
  const Figures figures = figures_of(before, now);
  const StatsSample& stats = now.stats;
  return {.title = stats.name + "  " + stats.version + "  pid " + std::to_string(stats.pid) +
                   "  up " + age_text(stats.uptime_seconds) +
                   (stats.is_stopping ? "  STOPPING" : ""),
          .summary = summary_of(stats, figures),
          .methods = methods_of(figures),
          .tasks = tasks_of(now.tasks.value_or(TasksSample())),
          .stacks = stacks_of(now.stacks.value_or(std::vector<StackSample>())),
          .open_task = now.open_task};
}

std::string frame_json(const Snapshot* before, const Snapshot& now) {
  const Figures figures = figures_of(before, now);
  const StatsSample& stats = now.stats;
  const Json json = {{"node", stats.name},
                     {"version", stats.version},
                     {"pid", stats.pid},
                     {"uptime_seconds", stats.uptime_seconds},
                     {"stopping", stats.is_stopping},
                     {"silent_shards", stats.silent_shards},
                     {"seconds", figures.seconds},
                     {"loop_use", figures.shard_use},
                     {"tasks", stats.tasks},
                     {"ready", stats.ready},
                     {"switches_per_second", figures.switches_per_second},
                     {"switch_ns", buckets_json(figures.switch_ns)},
                     {"created_per_second", figures.created_per_second},
                     {"create_ns", buckets_json(figures.create_ns)},
                     {"pool_hits", figures.pool_hits},
                     {"stack_bytes", stats.stack_bytes},
                     {"calls_per_second", figures.calls_per_second},
                     {"errors_per_second", figures.errors_per_second},
                     {"latency_us", buckets_json(figures.latency_us)},
                     {"queue_delay_us", buckets_json(figures.queue_delay_us)},
                     {"running_calls", stats.running_calls},
                     {"waiting_calls", stats.waiting_calls},
                     {"connections", stats.connections},
                     {"objects", stats.objects},
                     {"stalls", stats.stalls},
                     {"methods", methods_json(figures.methods)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace corolane::tools::cli::top
