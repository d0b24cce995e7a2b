// SPDX-License-Identifier: MIT
// /profile: where the node spends CPU time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coroutine/cpu_profile.h"
#include "coroutine/inspect/folded_frames.h"
#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/flame_graph.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_seconds.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration seconds_default = 5s;
constexpr Duration seconds_max = 30s;
// The highest timer frequency that a kernel has.
constexpr std::size_t samples_per_second = 1'000;

using coroutine::CpuProfile;

// The profile of one shard; null when another profile is being taken, or CPU time is not measured.
using ShardProfile = std::shared_ptr<const CpuProfile>;

ShardProfile profile_of(Shard& shard, Duration time) {
  coroutine::Scheduler& scheduler = shard.scheduler();
  if (!scheduler.statistics().measures_cpu) return nullptr;
  const auto count_max = static_cast<std::size_t>(in_seconds(time) * samples_per_second) + 1;
  auto profile = std::make_shared<CpuProfile>(count_max);
  const auto recording = scheduler.record(*profile);
  if (!recording) return nullptr;
  // A client that disconnects ends the profile early.
  static_cast<void>(coroutine::sleep_for(time));
  return profile;
}

// The names of the functions at an address, the outermost first.
class FunctionNames {
 public:
  explicit FunctionNames(coroutine::Symbols& symbols) : symbols_(symbols) {}

  const std::vector<std::string>& at(std::uintptr_t address) {
    const auto [place, is_new] = names_.try_emplace(address);
    if (is_new) {
      const auto frames = symbols_.frames({.return_addresses = {address}});
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        place->second.push_back(name_of(*frame));
      }
    }
    return place->second;
  }

 private:
  // All places in a library that have no symbol are one.
  static std::string name_of(const coroutine::SourceFrame& frame) {
    return frame.function.substr(0, frame.function.find("+0x"));
  }

  coroutine::Symbols& symbols_;
  std::map<std::uintptr_t, std::vector<std::string>> names_;
};

// Makes one of several functions of corolane in a row that call the program's, from the outermost
// on. What the innermost function of the program calls stays: the time is spent there.
std::vector<std::string> without_runtime(const std::vector<std::string>& stack) {
  const auto is_own = [](const std::string& name) {
    return !coroutine::is_of_corolane(name) && !name.starts_with("std::");
  };
  const auto innermost = std::ranges::find_if(stack.rbegin(), stack.rend(), is_own).base();
  std::vector<std::string> kept;
  for (auto at = stack.begin(); at != innermost;) {
    const auto end = std::find_if(at, innermost, is_own);
    if (end - at >= 2 && std::any_of(at, end, coroutine::is_of_corolane)) {
      kept.emplace_back("(corolane)");
    } else {
      kept.insert(kept.end(), at, end);
    }
    if (end != innermost) kept.push_back(*end);
    at = end == innermost ? end : end + 1;
  }
  kept.insert(kept.end(), innermost, stack.end());
  return kept;
}

struct Profile {
  FlameGraph graph;  // In microseconds.
  std::size_t sample_count = 0;
  std::size_t lost_count = 0;
  bool is_there = false;
};

// From the outermost frame on; `addresses` begin with the innermost one.
std::vector<std::string> stack_of(const std::string& root, std::string_view task,
                                  std::span<const std::uintptr_t> addresses, FunctionNames& names) {
  std::vector<std::string> stack;
  if (!root.empty()) stack.push_back(root);
  stack.emplace_back(task.empty() ? "(loop)" : task);
  std::vector<std::string> functions;
  for (auto address = addresses.rbegin(); address != addresses.rend(); ++address) {
    std::ranges::copy(names.at(*address), std::back_inserter(functions));
  }
  std::ranges::move(without_runtime(functions), std::back_inserter(stack));
  if (addresses.empty()) stack.emplace_back("(switching)");
  return stack;
}

std::uint64_t microseconds_of(Duration time) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

void add(Profile& profile, const CpuProfile& shard, const std::string& root, FunctionNames& names) {
  profile.is_there = true;
  profile.lost_count += shard.lost_count();
  for (const CpuProfile::Sample& sample : shard.samples()) {
    profile.graph.add(stack_of(root, sample.task_name(), sample.addresses(), names),
                      microseconds_of(sample.cpu()));
    ++profile.sample_count;
  }
}

// A shard that hangs cannot sample itself. The stall watchdog has seen one stack of it, which
// stands for the whole time unless it sleeps.
void add_silent(Profile& profile, const std::vector<StallWatchdog::Stall>& stalls,
                std::size_t shard, const std::string& root, Duration time, FunctionNames& names) {
  const auto stall = std::ranges::find_if(stalls, [shard](const StallWatchdog::Stall& known) {
    return known.shard == shard && known.is_going_on && known.doing &&
           known.doing->asleep_in.empty();
  });
  if (stall == stalls.end()) return;
  profile.is_there = true;
  const coroutine::Interruption& doing = *stall->doing;
  profile.graph.add(stack_of(root, doing.note.empty() ? doing.task_name : doing.note,
                             doing.trace.return_addresses, names),
                    microseconds_of(time));
  ++profile.sample_count;
}

Profile named(const Node& node, const FromShards<ShardProfile>& shards, Duration time,
              coroutine::Symbols& symbols) {
  Profile profile;
  FunctionNames names(symbols);
  const auto root_of = [&](std::size_t shard) {
    return node.shard_count() == 1 ? "" : "shard " + std::to_string(shard);
  };
  for (std::size_t i = 0; i < shards.parts.size(); ++i) {
    if (shards.parts[i] == nullptr) continue;
    add(profile, *shards.parts[i], root_of(shards.numbers[i]), names);
  }
  if (shards.silent.empty() || node.stall_watchdog() == nullptr) return profile;
  const auto stalls = node.stall_watchdog()->last_stalls();
  for (const ShardSilence& silence : shards.silent) {
    add_silent(profile, stalls, silence.shard, root_of(silence.shard), time, names);
  }
  return profile;
}

std::string title_of(const Node& node, const Profile& profile, Duration time) {
  std::string title = "CPU time of node " + node.config().name + ", " + seconds_text(time) + ": " +
                      std::to_string(profile.graph.total() / 1000) + " ms in " +
                      std::to_string(profile.sample_count) + " samples";
  if (profile.lost_count > 0) title += ", " + std::to_string(profile.lost_count) + " lost";
  return title;
}

Json as_json(const Profile& profile, Duration time) {
  return {{"seconds", in_seconds(time)},
          {"cpu_seconds", static_cast<double>(profile.graph.total()) / 1e6},
          {"samples", profile.sample_count},
          {"lost_samples", profile.lost_count},
          {"folded_microseconds", profile.graph.folded()}};
}

}  // namespace

Result<net::HttpResponse> profile_page(Node& node, const net::HttpRequest& request) {
  const auto time = page_seconds(request, seconds_default, seconds_max);
  if (!time) return bad_query(time.error());
  const auto format = request.query("format");
  if (!format.empty() && format != "text" && format != "json" && format != "folded" &&
      format != "svg") {
    return bad_query(Error(Code::invalid_argument,
                           "format is folded, svg or json, as in /profile?seconds=5&format=svg"));
  }
  auto shards =
      from_each_shard(node, [time = *time](Shard& shard) { return profile_of(shard, time); });
  if (!shards) return shards.error();
  Profile profile;
  node.run_with_symbols([&](auto& symbols) { profile = named(node, *shards, *time, symbols); });
  if (!profile.is_there && !shards->silent.empty()) {
    return Error(Code::unavailable, silence_text(node, shards->silent.front()));
  }
  if (!profile.is_there) {
    return net::HttpResponse{
        .status = 503,
        .body =
            "no profile: another one is being taken, or CPU time is not measured here, as in a "
            "recorded node and in builds with a sanitizer\n"};
  }
  if (format == "json") {
    Json page = as_json(profile, *time);
    name_silent_shards(page, node, shards->silent);
    return json_response(page);
  }
  if (format == "svg") {
    return net::HttpResponse{
        .content_type = "image/svg+xml",
        .body = profile.graph.svg(title_of(node, profile, *time), "microseconds")};
  }
  return net::HttpResponse{.body = profile.graph.folded()};
}

}  // namespace corolane::framework::detail
