// SPDX-License-Identifier: MIT
#include "tools/corolane/top/frame.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "tools/corolane/figures.h"
#include "tools/corolane/top/cluster_view.h"

namespace corolane::tools::cli::top {
namespace {

using Json = nlohmann::ordered_json;

struct MethodFigures {
  std::string name;
  bool is_of_objects = false;
  double calls_per_second = 0;
  std::uint64_t p50_us = 0;
  std::uint64_t p99_us = 0;
  std::uint64_t running = 0;
  double errors_per_second = 0;
  double refusals_per_second = 0;
  std::uint64_t calls = 0;

  bool is_idle() const {
    return calls_per_second + errors_per_second + refusals_per_second == 0 && running == 0;
  }
};

// Calls that have ended, errors by the server's fault and refusals by the caller's.
struct CallRates {
  void add(const MethodFigures& method) {
    calls += method.calls_per_second;
    errors += method.errors_per_second;
    refusals += method.refusals_per_second;
  }

  double calls = 0;
  double errors = 0;
  double refusals = 0;
};

// The figures for both the screen and programs.
struct Figures {
  double seconds = 0;
  std::vector<double> shard_use;      // 0 to 1, by shard.
  std::optional<double> control_use;  // 0 to 1.
  double switches_per_second = 0;
  Buckets switch_ns;
  double created_per_second = 0;
  Buckets create_ns;
  double pool_hits = 0;  // 0 to 1.
  CallRates over_wire;
  CallRates of_objects;
  Buckets latency_us;
  Buckets queue_delay_us;
  std::uint64_t new_stalls = 0;
  std::vector<MethodFigures> methods;  // The most called first, idle ones last.
};

// The load now counts first; for idle methods, and before there are rates, the load so far. Those
// that only nodes call are the last of the idle ones.
bool has_more_load(const MethodFigures& left, const MethodFigures& right) {
  const auto load = [](const MethodFigures& method) {
    const bool is_of_program = !method.name.starts_with("corolane.framework.");
    return std::tuple(method.calls_per_second, method.running, method.calls, is_of_program);
  };
  return load(left) > load(right);
}

std::uint64_t rise(std::uint64_t before, std::uint64_t now) {
  return now > before ? now - before : 0;
}

// Rates and differences between two samples of a process; before the first sample, all counts are
// 0.
class Comparison {
 public:
  Comparison(const Snapshot* before, const Snapshot& now) : now_(now.stats), methods_(now.methods) {
    if (before == nullptr || !is_same_process(before->stats, now_)) return;
    if (now_.uptime_seconds <= before->stats.uptime_seconds) return;
    // Sums without one shard say nothing about sums of all of them.
    if (!now_.silent_shards.empty() || !before->stats.silent_shards.empty()) return;
    if (!methods_.is_whole || !before->methods.is_whole) return;
    before_ = before->stats;
    methods_before_ = before->methods.methods;
    seconds_ = now_.uptime_seconds - before_.uptime_seconds;
  }

  Figures figures() const {
    Figures figures{.seconds = seconds_,
                    .shard_use = shard_use(),
                    .control_use = control_use(),
                    .switches_per_second = rate(before_.switches, now_.switches),
                    .switch_ns = now_.switch_ns.since(before_.switch_ns),
                    .created_per_second = rate(before_.created, now_.created),
                    .create_ns = now_.create_ns.since(before_.create_ns),
                    .pool_hits = pool_hits(),
                    .over_wire = {},
                    .of_objects = {},
                    .latency_us = {},
                    .queue_delay_us = now_.queue_delay_us.since(before_.queue_delay_us),
                    .new_stalls = seconds_ > 0 ? rise(before_.stalls, now_.stalls) : 0,
                    .methods = {}};
    for (const MethodSample& method : methods_.methods) {
      const MethodSample& old = before_of(method);
      const Buckets latency_us = method.latency_us.since(old.latency_us);
      figures.methods.push_back({.name = method.name,
                                 .is_of_objects = method.is_of_objects,
                                 .calls_per_second = rate(old.calls, method.calls),
                                 .p50_us = latency_us.quantile(0.5),
                                 .p99_us = latency_us.quantile(0.99),
                                 .running = method.running,
                                 .errors_per_second = rate(old.errors, method.errors),
                                 .refusals_per_second = rate(old.refusals, method.refusals),
                                 .calls = method.calls});
      (method.is_of_objects ? figures.of_objects : figures.over_wire).add(figures.methods.back());
      figures.latency_us.add(latency_us);
    }
    std::ranges::stable_sort(figures.methods, has_more_load);
    return figures;
  }

 private:
  double rate(std::uint64_t before, std::uint64_t now) const {
    return seconds_ > 0 ? static_cast<double>(rise(before, now)) / seconds_ : 0;
  }

  const MethodSample& before_of(const MethodSample& method) const {
    static const MethodSample none;
    const auto found = std::ranges::find_if(methods_before_, [&](const MethodSample& old) {
      return old.name == method.name && old.is_of_objects == method.is_of_objects;
    });
    return found == methods_before_.end() ? none : *found;
  }

  std::vector<double> shard_use() const {
    std::vector<double> uses;
    for (const ShardSample& shard : now_.shards) {
      const auto old = std::ranges::find(before_.shards, shard.number, &ShardSample::number);
      const double before = old == before_.shards.end() ? shard.cpu_seconds : old->cpu_seconds;
      uses.push_back(use(before, shard.cpu_seconds));
    }
    return uses;
  }

  std::optional<double> control_use() const {
    if (!now_.control_cpu_seconds) return std::nullopt;
    const double now = *now_.control_cpu_seconds;
    return use(before_.control_cpu_seconds.value_or(now), now);
  }

  // The share of a core.
  double use(double cpu_seconds_before, double cpu_seconds_now) const {
    if (seconds_ <= 0) return 0;
    return std::clamp((cpu_seconds_now - cpu_seconds_before) / seconds_, 0.0, 1.0);
  }

  double pool_hits() const {
    const auto hits = static_cast<double>(rise(before_.stack_hits, now_.stack_hits));
    const auto misses = static_cast<double>(rise(before_.stack_misses, now_.stack_misses));
    return hits + misses > 0 ? hits / (hits + misses) : 1;
  }

  const StatsSample& now_;
  const MethodsSample& methods_;
  StatsSample before_;  // Empty without an earlier sample.
  std::vector<MethodSample> methods_before_;
  double seconds_ = 0;
};

double ns(std::uint64_t us) { return static_cast<double>(us) * 1e3; }

std::string quantiles_text(const Buckets& buckets, double unit_ns) {
  if (buckets.count() == 0) return "p50 -  p99 -";
  return "p50 " + time_text(static_cast<double>(buckets.quantile(0.5)) * unit_ns) + "  p99 " +
         time_text(static_cast<double>(buckets.quantile(0.99)) * unit_ns);
}

// "[|||       ] 31.0 %".
std::string use_text(double use) {
  std::string bar(10, ' ');
  std::fill_n(bar.begin(), static_cast<std::size_t>(std::lround(use * 10)), '|');
  return "[" + bar + "] " + percent_text(use);
}

std::string loops_text(const Figures& figures) {
  std::string text;
  for (std::size_t i = 0; i < figures.shard_use.size(); ++i) {
    text.append(text.empty() ? "" : "  ").append(std::to_string(i)).append(" ");
    text.append(use_text(figures.shard_use[i]));
  }
  if (figures.control_use) text.append("  control ").append(use_text(*figures.control_use));
  return text;
}

std::vector<SummaryLine> summary_of(const StatsSample& stats, const Figures& figures) {
  const std::uint64_t waiting = stats.tasks > stats.ready ? stats.tasks - stats.ready : 0;
  const auto number = [](std::uint64_t count) { return count_text(static_cast<double>(count)); };
  const auto rate = [](double per_second) { return count_text(per_second) + "/s"; };
  const auto failures = [&](const CallRates& rates) {
    return "errors " + rate(rates.errors) + "  refusals " + rate(rates.refusals);
  };
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
      {"calls", rate(figures.over_wire.calls) + "  " + quantiles_text(figures.latency_us, 1e3) +
                    "  running " + number(stats.running_calls) + "  waiting " +
                    number(stats.waiting_calls) + "  " + failures(figures.over_wire)},
      {"queue",
       quantiles_text(figures.queue_delay_us, 1e3) + "  connections " + number(stats.connections)},
      {"objects", number(stats.objects) + "  calls " + rate(figures.of_objects.calls) + "  " +
                      failures(figures.of_objects) + "  stalls " + number(stats.stalls) + ", " +
                      age_text(stats.stall_seconds) +
                      (figures.new_stalls > 0 ? ", NEW: see corolane stalls" : "")},
  };
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

std::string_view kind_of(const MethodFigures& method) {
  return method.is_of_objects ? "object" : "wire";
}

// A method of objects has two rows where clients or other nodes call it: one for all its calls, and
// one for those that have come over the wire.
std::string label_of(const MethodFigures& method, const std::vector<MethodFigures>& methods) {
  const bool is_part = std::ranges::any_of(methods, [&](const MethodFigures& other) {
    return other.is_of_objects && !method.is_of_objects && other.name == method.name;
  });
  return method.name + (is_part ? " over the wire" : "");
}

Table methods_of(const Figures& figures) {
  Table table{.columns = {{"CALLS/S", 'a', false},
                          {"P50", 'p', false},
                          {"P99", 'l', false},
                          {"RUNNING", 'u', false},
                          {"ERRORS/S", 'e', false},
                          {"REFUSALS/S", 'f', false},
                          {"METHOD", 'n', true}},
              .rows = {},
              .count = figures.methods.size()};
  const auto latency = [](std::uint64_t us) {
    return Cell(us == 0 ? "-" : time_text(ns(us)), static_cast<double>(us));
  };
  const auto number = [](double count) { return Cell(count_text(count), count); };
  for (const MethodFigures& method : figures.methods) {
    table.rows.push_back(
        {.id = method.name + " " + std::string(kind_of(method)),
         .cells = {number(method.calls_per_second), latency(method.p50_us), latency(method.p99_us),
                   number(static_cast<double>(method.running)), number(method.errors_per_second),
                   number(method.refusals_per_second), Cell(label_of(method, figures.methods))},
         .details = {},
         .is_idle = method.is_idle()});
  }
  return table;
}

Cell seconds_cell(double seconds) { return {age_text(seconds), seconds}; }
Cell cpu_cell(double seconds) { return {time_text(seconds * 1e9), seconds}; }

Table tasks_of(const TasksSample& tasks) {
  Table table{.columns = {{"ID", 'i', true},
                          {"AGE", 'a', false},
                          {"SINCE", 'l', false},
                          {"CPU", 'u', false},
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
  Table table{.columns = {{"TASKS", 'a', false},
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
                    {"of", kind_of(method)},
                    {"calls_per_second", method.calls_per_second},
                    {"p50_us", method.p50_us},
                    {"p99_us", method.p99_us},
                    {"running", method.running},
                    {"errors_per_second", method.errors_per_second},
                    {"refusals_per_second", method.refusals_per_second},
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
    case TableKind::cluster:
      return cluster;
    case TableKind::methods:
      break;
  }
  return methods;
}

bool is_same_process(const StatsSample& left, const StatsSample& right) {
  return left.pid == right.pid && left.name == right.name;
}

Frame make_frame(const Snapshot* before, const Snapshot& now) {
  const Figures figures = Comparison(before, now).figures();
  const ClusterSample cluster = now.cluster.value_or(ClusterSample());
  const StatsSample& stats = now.stats;
  return {.title = stats.name + "  " + stats.version + "  pid " + std::to_string(stats.pid) +
                   "  up " + age_text(stats.uptime_seconds) +
                   (stats.is_stopping ? "  STOPPING" : ""),
          .summary = summary_of(stats, figures),
          .methods = methods_of(figures),
          .tasks = tasks_of(now.tasks.value_or(TasksSample())),
          .stacks = stacks_of(now.stacks.value_or(std::vector<StackSample>())),
          .cluster = cluster_table(cluster),
          .cluster_summary = cluster_summary(cluster),
          .open_task = now.open_task};
}

std::string frame_json(const Snapshot* before, const Snapshot& now) {
  const Figures figures = Comparison(before, now).figures();
  const StatsSample& stats = now.stats;
  const Json json = {{"node", stats.name},
                     {"version", stats.version},
                     {"pid", stats.pid},
                     {"uptime_seconds", stats.uptime_seconds},
                     {"stopping", stats.is_stopping},
                     {"silent_shards", stats.silent_shards},
                     {"seconds", figures.seconds},
                     {"loop_use", figures.shard_use},
                     {"control_use", figures.control_use ? Json(*figures.control_use) : Json()},
                     {"tasks", stats.tasks},
                     {"ready", stats.ready},
                     {"switches_per_second", figures.switches_per_second},
                     {"switch_ns", buckets_json(figures.switch_ns)},
                     {"created_per_second", figures.created_per_second},
                     {"create_ns", buckets_json(figures.create_ns)},
                     {"pool_hits", figures.pool_hits},
                     {"stack_bytes", stats.stack_bytes},
                     {"calls_per_second", figures.over_wire.calls},
                     {"errors_per_second", figures.over_wire.errors},
                     {"refusals_per_second", figures.over_wire.refusals},
                     {"object_calls_per_second", figures.of_objects.calls},
                     {"object_errors_per_second", figures.of_objects.errors},
                     {"object_refusals_per_second", figures.of_objects.refusals},
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
