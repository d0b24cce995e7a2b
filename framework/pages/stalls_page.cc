// /stalls: tasks that kept a loop from turning.
#include <utility>

#include "coroutine/base/text.h"
#include "framework/diagnostics/detail/stall_watchdog.h"
#include "framework/pages/detail/page.h"
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
  return {{"number", stall.number},
          {"shard", stall.shard},
          {"begun_at", utc_text(stall.begun_at)},
          {"seconds", rounded(in_seconds(stall.lasted), 10'000)},
          {"is_going_on", stall.is_going_on},
          {"task_id", doing.task},
          {"task", doing.task_name},
          {"object", doing.note},
          {"spawned_at", doing.task == 0 ? "" : site_text(doing.site)},
          {"stack", frames_json(frames)}};
}

std::string stall_text(const Stall& stall, const Frames& frames) {
  const auto doing = stall.doing.value_or(coroutine::Interruption());
  std::string text = "stall " + std::to_string(stall.number) + " of shard " +
                     std::to_string(stall.shard) + " at " + utc_text(stall.begun_at) + " for " +
                     seconds_text(stall.lasted) + (stall.is_going_on ? " so far\n" : "\n");
  if (!stall.doing) return text + "    its thread did not answer\n";
  text += doing.task == 0
              ? std::string("    the loop itself")
              : "    task " + std::to_string(doing.task) + " \"" + escaped(doing.task_name) +
                    "\", spawned at " + site_text(doing.site);
  if (!doing.note.empty()) text.append(", object ").append(escaped(doing.note));
  return text + "\n" + coroutine::to_text(frames);
}

}  // namespace

Result<net::HttpResponse> stalls_page(Node& node, const net::HttpRequest& request) {
  const StallWatchdog* const watchdog = node.stall_watchdog();
  const auto stalls = watchdog == nullptr ? std::vector<Stall>() : watchdog->last_stalls();
  const auto statistics =
      watchdog == nullptr ? StallWatchdog::Statistics() : watchdog->statistics();
  const auto frames = frames_of(node, stalls);
  return in_format(
      request,
      [&] {
        Json rows = Json::array();
        for (std::size_t i = 0; i < stalls.size(); ++i) {
          rows.push_back(stall_json(stalls[i], frames[i]));
        }
        return json_response({{"are_watched", watchdog != nullptr},
                              {"count", statistics.count},
                              {"seconds", in_seconds(statistics.time)},
                              {"stalls", std::move(rows)}});
      },
      [&] {
        std::string text;
        for (std::size_t i = 0; i < stalls.size(); ++i) text += stall_text(stalls[i], frames[i]);
        text += std::to_string(statistics.count) + " stalls, " + seconds_text(statistics.time) +
                " in all";
        return net::HttpResponse{
            .body =
                text + (watchdog == nullptr ? "; stalls are not detected: see node.stall_time_min\n"
                                            : "\n")};
      });
}

}  // namespace corolane::framework::detail
