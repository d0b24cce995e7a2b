// SPDX-License-Identifier: MIT
// /trace: which task ran when, switch by switch.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "coroutine/base/cycle_clock.h"
#include "coroutine/base/text.h"
#include "coroutine/scheduler.h"
#include "coroutine/switch_trace.h"
#include "coroutine/task.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_seconds.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration trace_time_default = 200ms;
constexpr Duration trace_time_max = 10s;
// For each shard, the newest slices: some ten megabytes of JSON.
constexpr std::size_t slice_count_max = 100'000;
// The limit of the text.
constexpr std::size_t rows_max = 50;

using coroutine::SwitchTrace;

// The trace of one shard; null when another trace is being taken.
using ShardTrace = std::shared_ptr<const SwitchTrace>;

ShardTrace trace_of(Shard& shard, Duration time) {
  auto trace = std::make_shared<SwitchTrace>(slice_count_max);
  const auto recording = shard.scheduler().record(*trace);
  if (!recording) return nullptr;
  static_cast<void>(coroutine::sleep_for(time));
  return trace;
}

// Calls visit(slice, cycles) for each slice that has ended.
template <typename F>
void for_each_slice(const SwitchTrace& trace, F visit) {
  const SwitchTrace::Slice* before = nullptr;
  trace.for_each([&](const SwitchTrace::Slice& slice) {
    if (before != nullptr) visit(*before, slice.begin - before->begin);
    before = &slice;
  });
}

double microseconds(std::uint64_t cycles) {
  return static_cast<double>(cycles) / cycles_per_ns() / 1000;
}

// --- As Perfetto reads it
//
// Trace Event Format (Google, "JSON"): complete events in microseconds, a thread for each shard.
// Written by hand: a library would build a tree for each of the hundred thousand events.

std::uint64_t first_begin(const std::vector<ShardTrace>& shards) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const ShardTrace& shard : shards) {
    if (shard == nullptr) continue;
    for_each_slice(*shard, [&](const auto& slice, auto) { first = std::min(first, slice.begin); });
  }
  return first;
}

void add_thread_name(std::size_t shard, std::string& json) {
  json.append("{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":");
  json.append(std::to_string(shard)).append(",\"args\":{\"name\":\"shard ");
  json.append(std::to_string(shard)).append("\"}},\n");
}

void add_slice(const SwitchTrace::Slice& slice, std::uint64_t cycles, std::uint64_t first,
               std::size_t shard, std::string& json) {
  json.append("{\"ph\":\"X\",\"pid\":1,\"tid\":").append(std::to_string(shard));
  json.append(",\"ts\":").append(fixed_text(microseconds(slice.begin - first), 3));
  json.append(",\"dur\":").append(fixed_text(microseconds(cycles), 3));
  json.append(",\"name\":").append(quoted_ascii(slice.name()));
  if (slice.task != 0) {
    json.append(",\"args\":{\"task\":\"");
    json.append(to_string(coroutine::TaskAddress{static_cast<std::uint32_t>(shard), slice.task}));
    json.append("\"}");
  }
  json.append("},\n");
}

// Other tasks run in between, since this takes longer than calls may wait.
std::string as_perfetto(const Node& node, const FromShards<ShardTrace>& shards) {
  const std::uint64_t first = first_begin(shards.parts);
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (std::size_t i = 0; i < shards.parts.size(); ++i) {
    if (shards.parts[i] == nullptr) continue;
    const std::size_t shard = shards.numbers[i];
    add_thread_name(shard, json);
    std::size_t count = 0;
    for_each_slice(*shards.parts[i], [&](const SwitchTrace::Slice& slice, std::uint64_t cycles) {
      add_slice(slice, cycles, first, shard, json);
      if (++count % 200 == 0) static_cast<void>(coroutine::yield());
    });
  }
  json.append("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":");
  return json.append(quoted_ascii("corolane node " + node.config().name)).append("}}\n]}\n");
}

// --- For people

struct Run {
  std::uint64_t count = 0;
  std::uint64_t cycles = 0;
  std::uint64_t longest = 0;
};

std::string trace_text(const std::vector<ShardTrace>& shards, Duration time) {
  std::map<std::string, Run> runs;
  std::uint64_t lost_count = 0;
  for (const ShardTrace& shard : shards) {
    if (shard == nullptr) continue;
    lost_count += shard->count() - std::min<std::uint64_t>(shard->count(), slice_count_max);
    for_each_slice(*shard, [&](const SwitchTrace::Slice& slice, std::uint64_t cycles) {
      Run& run = runs[std::string(slice.name())];
      ++run.count;
      run.cycles += cycles;
      run.longest = std::max(run.longest, cycles);
    });
  }
  std::vector<std::pair<std::string, Run>> most(runs.begin(), runs.end());
  std::ranges::sort(most, std::ranges::greater{},
                    [](const auto& run) { return run.second.cycles; });
  const std::size_t count = most.size();
  most.resize(std::min(count, rows_max));

  std::vector<std::vector<std::string>> lines = {{"TASK", "RAN", "FOR MS", "LONGEST US"}};
  for (const auto& [name, run] : most) {
    lines.push_back({escaped(name), std::to_string(run.count),
                     fixed_text(microseconds(run.cycles) / 1000, 3),
                     fixed_text(microseconds(run.longest), 1)});
  }
  std::string text =
      aligned_text(lines) + std::to_string(count) + " names in " + seconds_text(time);
  if (count > rows_max) text += ", those that ran longest shown";
  if (lost_count > 0) text += "; dropped: " + std::to_string(lost_count) + " older switches";
  return text + "; ?format=json is a file for https://ui.perfetto.dev\n";
}

}  // namespace

Result<net::HttpResponse> trace_page(Node& node, const net::HttpRequest& request) {
  const auto time = page_seconds(request, trace_time_default, trace_time_max);
  if (!time) return bad_query(time.error());
  const auto format = format_of(request);
  if (!format) return unknown_format(request);
  auto shards =
      from_each_shard(node, [time = *time](Shard& shard) { return trace_of(shard, time); });
  if (!shards) return shards.error();
  if (shards->parts.empty() && !shards->silent.empty()) {
    return Error(Code::unavailable, silence_text(node, shards->silent.front()));
  }
  if (std::ranges::all_of(shards->parts,
                          [](const ShardTrace& shard) { return shard == nullptr; })) {
    return net::HttpResponse{.status = 503, .body = "another trace is being taken\n"};
  }
  if (*format == Format::text) {
    Json silence = Json::object();
    name_silent_shards(silence, node, shards->silent);
    return net::HttpResponse{.body =
                                 silent_shards_text(silence) + trace_text(shards->parts, *time)};
  }
  return net::HttpResponse{.content_type = "application/json", .body = as_perfetto(node, *shards)};
}

}  // namespace corolane::framework::detail
