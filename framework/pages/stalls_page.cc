// SPDX-License-Identifier: MIT
// /stalls: tasks that kept a loop from turning.
#include <utility>

#include "coroutine/inspect/symbols.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"

namespace corolane::framework::detail {
namespace {

using Stall = StallWatchdog::Stall;
using Frames = std::vector<coroutine::SourceFrame>;

// The stack of each stall; empty where the thread did not answer.
std::vector<Frames> frames_of(Node& node, const std::vector<Stall>& stalls) {
  std::vector<Frames> all;
  node.run_with_symbols([&](coroutine::Symbols& symbols) {
    for (const Stall& stall : stalls) {
      all.push_back(stall.doing ? symbols.frames(stall.doing->trace) : Frames());
    }
  });
  return all;
}

Json stall_json(const Stall& stall, const Frames& frames) {
  const auto doing = stall.doing.value_or(coroutine::Interruption());
  const coroutine::TaskAddress address{.scheduler = static_cast<std::uint32_t>(stall.shard),
                                       .id = doing.task};
  return {{"number", stall.number},
          {"shard", stall.is_control ? Json("control") : Json(stall.shard)},
          {"begun_at", utc_text(stall.begun_at)},
          {"seconds", rounded(in_seconds(stall.lasted), 10'000)},
          {"is_going_on", stall.is_going_on},
          {"task_id", doing.task == 0 ? Json() : address_json(address)},
          {"task", doing.task_name},
          {"object", doing.note},
          {"asleep_in", doing.asleep_in},
          {"spawned_at", doing.task == 0 ? "" : site_text(doing.site)},
          {"stack", frames_json(frames)}};
}

std::string stall_text(const Json& stall) {
  const std::string stack = frames_text(stall.at("stack"));
  return table_text(Json::array({stall}),
                    "STALL: number, SHARD: shard, BEGUN AT: begun_at, FOR: seconds, "
                    "GOES ON: is_going_on, TASK: task_id, NAME: task, OBJECT: object, "
                    "ASLEEP IN: asleep_in, SPAWNED AT: spawned_at") +
         (stack.empty() ? "    its thread did not answer\n" : stack);
}

std::string stalls_text(const Json& page) {
  std::string text;
  for (const Json& stall : page.at("stalls").elements()) text += stall_text(stall);
  return text + count_text(page.at("count"), "stall", "stalls") + ", " +
         seconds_text(page.at("seconds")) + " in all" +
         (page.at("are_watched").is_true()
              ? "\n"
              : "; stalls are not detected: see node.stall_time_min\n");
}

}  // namespace

Result<net::HttpResponse> stalls_page(Node& node, const net::HttpRequest& request) {
  const StallWatchdog* const watchdog = node.stall_watchdog();
  const auto stalls = watchdog == nullptr ? std::vector<Stall>() : watchdog->last_stalls();
  const auto statistics =
      watchdog == nullptr ? StallWatchdog::Statistics() : watchdog->statistics();
  const auto frames = frames_of(node, stalls);
  Json rows = Json::array();
  for (std::size_t i = 0; i < stalls.size(); ++i) rows.push_back(stall_json(stalls[i], frames[i]));
  return in_format(request,
                   {{"are_watched", watchdog != nullptr},
                    {"count", statistics.count},
                    {"seconds", in_seconds(statistics.time)},
                    {"stalls", std::move(rows)}},
                   stalls_text);
}

}  // namespace corolane::framework::detail
