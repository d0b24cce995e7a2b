// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_history.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "framework/cluster/cluster.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/node/detail/node_state.h"
#include "framework/node/detail/shard_sample.h"
#include "framework/node/detail/shard_set.h"
#include "framework/node/each_shard.h"
#include "framework/node/node.h"

namespace corolane::framework::detail {
namespace {

using Fold = History::Fold;

// It has histograms on its stack.
constexpr coroutine::TaskOptions history_task = {.stack_size_bytes = 128 * 1024,
                                                 .purpose = coroutine::StackPool::Purpose::control};

// --- What is kept. The order here is that of the samples.

struct RateFigure {
  std::string_view name;
  std::uint64_t (*count)(const ShardSample& sample);
};

struct LevelFigure {
  std::string_view name;
  std::string_view unit;
  double (*level)(const ShardSample& sample);
};

// Has two series: "call_time/p50" and "call_time/p99".
struct TimeFigure {
  std::string_view name;
  double units_per_second;
  const Histogram& (*times)(const ShardSample& sample);
};

struct NodeFigure {
  std::string_view name;
  std::string_view unit;
  Fold fold;
};

constexpr auto rate_figures = std::to_array<RateFigure>({
    {"calls", [](const ShardSample& it) { return it.calls.call_count; }},
    {"errors", [](const ShardSample& it) { return it.calls.fault_count; }},
    {"refusals", [](const ShardSample& it) { return it.calls.refusal_count; }},
    {"turned_away", [](const ShardSample& it) { return it.calls.turned_away_count; }},
    {"object_calls", [](const ShardSample& it) { return it.object_call_count; }},
    {"publications", [](const ShardSample& it) { return it.publication_count; }},
    {"store_reads", [](const ShardSample& it) { return it.store.read_us.count(); }},
    {"store_writes", [](const ShardSample& it) { return it.store.write_us.count(); }},
    {"store_errors", [](const ShardSample& it) { return it.store.error_count; }},
    {"ticks_missed", [](const ShardSample& it) { return it.missed_tick_count; }},
    {"switches", [](const ShardSample& it) { return it.coroutines.switch_count; }},
    {"creations", [](const ShardSample& it) { return it.coroutines.created_count; }},
    {"stacks_reused", [](const ShardSample& it) { return it.stacks.hit_count; }},
    {"stacks_refused", [](const ShardSample& it) { return it.stacks.refused_count; }},
});

template <typename T>
double as_level(T count) {
  return static_cast<double>(count);
}

constexpr auto level_figures = std::to_array<LevelFigure>({
    {"running", "", [](const ShardSample& it) { return as_level(it.calls.running_count); }},
    {"connections", "",
     [](const ShardSample& it) {
       return as_level(it.calls.connection_count + it.http_connection_count);
     }},
    {"subscriptions", "", [](const ShardSample& it) { return as_level(it.subscription_count); }},
    {"unsaved", "", [](const ShardSample& it) { return as_level(it.unsaved_count); }},
    {"tasks", "", [](const ShardSample& it) { return as_level(it.coroutines.task_count); }},
    {"stacks_in_use", "", [](const ShardSample& it) { return as_level(it.stacks.in_use_count); }},
    {"stacks_idle", "", [](const ShardSample& it) { return as_level(it.stacks.idle_count); }},
    {"stacks_max", "", [](const ShardSample& it) { return as_level(it.stacks.count_max); }},
});

constexpr auto time_figures = std::to_array<TimeFigure>({
    {"call_time", 1e6, [](const ShardSample& it) -> auto& { return it.calls.latency_us; }},
    {"queue_time", 1e6, [](const ShardSample& it) -> auto& { return it.calls.queue_delay_us; }},
    {"store_read", 1e6, [](const ShardSample& it) -> auto& { return it.store.read_us; }},
    {"store_write", 1e6, [](const ShardSample& it) -> auto& { return it.store.write_us; }},
    {"tick_lateness", 1e6, [](const ShardSample& it) -> auto& { return it.tick_lateness_us; }},
    {"switch", 1e9, [](const ShardSample& it) -> auto& { return it.coroutines.switch_ns; }},
    {"creation", 1e9, [](const ShardSample& it) -> auto& { return it.coroutines.create_ns; }},
});

constexpr auto node_figures = std::to_array<NodeFigure>({
    {"state", "", Fold::max},
    {"silence", "s", Fold::max},
    {"loop_delay", "s", Fold::max},
    {"stalls", "1/s", Fold::mean},
    {"memory", "bytes", Fold::max},
    {"members", "", Fold::min},
    {"partitions", "", Fold::mean},
    {"fence", "s", Fold::min},
    {"cpu/control", "cores", Fold::mean},
});

std::vector<History::Series> series_of(const Node& node) {
  std::vector<History::Series> all;
  const auto add = [&all](std::string name, std::string_view unit, Fold fold) {
    all.push_back({.name = std::move(name), .unit = unit, .fold = fold});
  };
  for (const RateFigure& figure : rate_figures) add(std::string(figure.name), "1/s", Fold::mean);
  for (const LevelFigure& figure : level_figures) {
    add(std::string(figure.name), figure.unit, Fold::mean);
  }
  for (const TimeFigure& figure : time_figures) {
    add(std::string(figure.name) + "/p50", "s", Fold::mean);
    add(std::string(figure.name) + "/p99", "s", Fold::max);
  }
  for (const NodeFigure& figure : node_figures) {
    add(std::string(figure.name), figure.unit, figure.fold);
  }
  for (std::size_t shard = 0; shard < node.shard_count(); ++shard) {
    add("cpu/" + std::to_string(shard), "cores", Fold::mean);
  }
  for (const HostedObjects& hosted : node.hosted()) {
    add("objects/" + std::string(hosted.type.name), "", Fold::mean);
  }
  return all;
}

// --- What is computed from two states of a counter

// The values that were recorded between two states of a histogram.
class RecordedSince {
 public:
  RecordedSince(const Histogram& before, const Histogram& after) {
    before.for_each_bucket([this](std::uint64_t bound, std::uint64_t count) {
      buckets_[size_++] = {.bound = bound, .count = count};
    });
    std::size_t known = 0;
    std::size_t size = 0;
    after.for_each_bucket([&](std::uint64_t bound, std::uint64_t count) {
      // A bucket that was not empty before is not empty now.
      if (known < size_ && buckets_[known].bound == bound) count -= buckets_[known++].count;
      changed_[size++] = {.bound = bound, .count = count};
      total_ += count;
    });
    size_ = size;
  }

  // A gap when nothing was recorded.
  float quantile(double share, double units_per_second) const {
    if (total_ == 0) return History::gap;
    auto left = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total_)));
    for (std::size_t i = 0; i < size_; ++i) {
      if (changed_[i].count >= left) {
        return static_cast<float>(static_cast<double>(changed_[i].bound) / units_per_second);
      }
      left -= changed_[i].count;
    }
    return History::gap;
  }

 private:
  struct Bucket {
    std::uint64_t bound = 0;
    std::uint64_t count = 0;
  };

  // More than a histogram has.
  std::array<Bucket, 640> buckets_;
  std::array<Bucket, 640> changed_;
  std::size_t size_ = 0;
  std::uint64_t total_ = 0;
};

float rate_sample(std::uint64_t before, std::uint64_t after, Duration time) {
  if (time <= Duration::zero()) return History::gap;
  const auto more = after > before ? static_cast<double>(after - before) : 0.0;
  return static_cast<float>(more / std::chrono::duration<double>(time).count());
}

float cores_sample(Duration before, Duration after, Duration time) {
  return rate_sample(static_cast<std::uint64_t>(before.count()),
                     static_cast<std::uint64_t>(after.count()), time) /
         1e9F;
}

float seconds_sample(Duration time) {
  return static_cast<float>(std::chrono::duration<double>(time).count());
}

// The memory of the process; a gap when the system does not tell.
float resident_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return History::gap;
  std::array<char, 128> text{};
  const auto size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  if (size <= 0) return History::gap;
  char* end = text.data();
  std::strtoull(end, &end, 10);  // The address space.
  return static_cast<float>(std::strtoull(end, &end, 10)) *
         static_cast<float>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

// A shard writes to one sample while the other one has what it told before.
struct NodeHistory::Question {
  const ShardSample& before() const { return samples[next]; }
  const ShardSample& now() const { return samples[1 - next]; }
  Duration time() const { return now().taken_at - before().taken_at; }

  const Shard* shard = nullptr;  // Null until it is found.
  TimePoint asked_at{};
  std::atomic<bool> is_answered = false;
  std::array<ShardSample, 2> samples;
  std::size_t next = 0;
};

NodeHistory::NodeHistory(Node& node, ShardSet& shards)
    : node_(node),
      shards_(shards),
      origin_(node.created_at()),
      history_(series_of(node)),
      told_(shards.count()) {
  for (Told& told : told_) told.question = std::make_shared<Question>();
  row_.reserve(series_of(node).size());
}

Result<void> NodeHistory::start() {
  auto spawned = task_.spawn("history", [this] { run(); }, history_task);
  if (!spawned) return spawned.error();
  return {};
}

std::int64_t NodeHistory::second_now() const {
  return std::chrono::floor<std::chrono::seconds>(now() - origin_).count();
}

void NodeHistory::run() {
  while (find_shards()) {
    const auto next = Deadline::at(origin_ + std::chrono::seconds(second_now() + 1));
    if (!coroutine::sleep_until(next)) return;
    ask();
    if (!coroutine::sleep_for(answer_time_max)) return;
    hear_all();
    write();
  }
}

// Fails when the task is cancelled.
Result<void> NodeHistory::find_shards() {
  const auto is_known = [](const Told& told) { return told.question->shard != nullptr; };
  if (std::ranges::all_of(told_, is_known)) return {};
  const auto found = from_each_shard(node_, [](const Shard& shard) { return &shard; });
  if (!found && found.error().code() == Code::cancelled) return found.error();
  if (!found) return {};
  for (std::size_t i = 0; i < found->parts.size(); ++i) {
    told_[found->numbers[i]].question->shard = found->parts[i];
  }
  return {};
}

void NodeHistory::ask() {
  for (std::size_t shard = 0; shard < told_.size(); ++shard) {
    Told& told = told_[shard];
    told.is_fresh = false;
    told.delay = {};
    if (told.question->shard == nullptr) continue;
    hear(told);  // It may have answered late.
    if (told.is_asked) continue;
    told.is_asked = true;
    told.question->is_answered.store(false, std::memory_order_relaxed);
    told.question->asked_at = now();
    shards_.post_to(shard, [question = told.question] {
      question->samples[question->next].take(*question->shard);
      question->is_answered.store(true, std::memory_order_release);
    });
  }
}

void NodeHistory::hear(Told& told) {
  if (!told.is_asked) return;
  Question& question = *told.question;
  told.is_fresh = question.is_answered.load(std::memory_order_acquire);
  if (told.is_fresh) {
    told.is_asked = false;
    question.next = 1 - question.next;
    ++told.answer_count;
  }
  const TimePoint answered_at = told.is_fresh ? question.now().taken_at : now();
  told.delay = std::max(told.delay, answered_at - question.asked_at);
}

void NodeHistory::hear_all() {
  for (Told& told : told_) {
    told.is_fresh = false;
    hear(told);
    // The first answer has nothing to compare with.
    told.is_fresh = told.is_fresh && told.answer_count > 1;
  }
  are_all_fresh_ = std::ranges::all_of(told_, &Told::is_fresh);
}

void NodeHistory::write() {
  row_.clear();
  write_sums();
  write_quantiles();
  write_node();
  write_shards();
  write_types();
  history_.add(second_now(), row_);
}

// The samples of a shard that owes an answer are not read: it may be writing one of them.
void NodeHistory::write_sums() {
  if (!are_all_fresh_) {
    row_.insert(row_.end(), rate_figures.size() + level_figures.size(), History::gap);
    return;
  }
  for (const RateFigure& figure : rate_figures) {
    float sum = 0;
    for (const Told& told : told_) {
      const Question& question = *told.question;
      sum += rate_sample(figure.count(question.before()), figure.count(question.now()),
                         question.time());
    }
    row_.push_back(sum);
  }
  for (const LevelFigure& figure : level_figures) {
    double sum = 0;
    for (const Told& told : told_) sum += figure.level(told.question->now());
    row_.push_back(static_cast<float>(sum));
  }
}

void NodeHistory::write_quantiles() {
  for (const TimeFigure& figure : time_figures) {
    if (!are_all_fresh_) {
      row_.insert(row_.end(), 2, History::gap);
      continue;
    }
    Histogram before;
    Histogram after;
    for (const Told& told : told_) {
      before.add(figure.times(told.question->before()));
      after.add(figure.times(told.question->now()));
    }
    const RecordedSince recorded(before, after);
    row_.push_back(recorded.quantile(0.5, figure.units_per_second));
    row_.push_back(recorded.quantile(0.99, figure.units_per_second));
  }
}

void NodeHistory::write_node() {
  const TimePoint time = now();
  Duration silence{};
  Duration delay{};
  for (std::size_t shard = 0; shard < told_.size(); ++shard) {
    silence = std::max(silence, node_.silence_of(shard));
    delay = std::max(delay, told_[shard].delay);
  }
  const Cluster* const cluster = node_.cluster();
  const Fence& fence = node_.fence();
  const std::uint64_t stalls =
      node_.stall_watchdog() == nullptr ? 0 : node_.stall_watchdog()->statistics().count;
  const Duration cpu = thread_cpu_time();
  const bool is_first = written_at_ == TimePoint{};
  row_.push_back(static_cast<float>(node_state(node_)));
  row_.push_back(seconds_sample(silence));
  row_.push_back(seconds_sample(delay));
  row_.push_back(is_first ? History::gap : rate_sample(stall_count_, stalls, time - written_at_));
  row_.push_back(resident_bytes());
  row_.push_back(cluster == nullptr ? History::gap
                                    : static_cast<float>(cluster->view()->members().size()));
  row_.push_back(cluster == nullptr ? History::gap
                                    : static_cast<float>(cluster->statistics().owned_count));
  row_.push_back(cluster == nullptr || fence.is_never() ? History::gap
                                                        : seconds_sample(fence.time_left()));
  row_.push_back(is_first ? History::gap : cores_sample(control_cpu_, cpu, time - written_at_));
  written_at_ = time;
  stall_count_ = stalls;
  control_cpu_ = cpu;
}

void NodeHistory::write_shards() {
  for (const Told& told : told_) {
    const Question& question = *told.question;
    row_.push_back(told.is_fresh ? cores_sample(question.before().thread_cpu,
                                                question.now().thread_cpu, question.time())
                                 : History::gap);
  }
}

void NodeHistory::write_types() {
  const std::size_t count = node_.hosted().size();
  if (!are_all_fresh_) {
    row_.insert(row_.end(), count, History::gap);
    return;
  }
  for (std::size_t type = 0; type < count; ++type) {
    std::size_t sum = 0;
    for (const Told& told : told_) sum += told.question->now().types.at(type).active_count;
    row_.push_back(static_cast<float>(sum));
  }
}

}  // namespace corolane::framework::detail
