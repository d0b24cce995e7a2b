// SPDX-License-Identifier: MIT
#include "framework/pages/detail/silent_shards.h"

#include <algorithm>
#include <string_view>

#include "coroutine/inspect/folded_frames.h"
#include "coroutine/inspect/symbols.h"
#include "framework/diagnostics/detail/stall_watchdog.h"

namespace corolane::framework::detail {
namespace {

// The place at fault is in the program: neither in the system, whose compiler's libraries have
// names that begin with "../", nor in the runtime, nor in code that its plugin has generated.
bool is_of_program(const coroutine::SourceFrame& frame) {
  return !frame.file.empty() && !frame.file.starts_with("/usr/") &&
         !frame.file.starts_with("../") && !frame.file.contains(".corolane.") &&
         !coroutine::is_of_corolane(frame.function);
}

std::string place_of(Node& node, const coroutine::StackTrace& trace) {
  std::string place;
  node.run_with_symbols([&](coroutine::Symbols& symbols) {
    const auto frames = symbols.frames(trace);
    auto frame = std::ranges::find_if(frames, is_of_program);
    if (frame == frames.end()) frame = frames.begin();
    if (frame == frames.end() || frame->file.empty()) return;
    place = frame->file + ":" + std::to_string(frame->line);
  });
  return place;
}

// Empty when that is not known.
std::string work_of(Node& node, std::size_t shard) {
  if (node.stall_watchdog() == nullptr) return {};
  const auto stalls = node.stall_watchdog()->last_stalls();
  const auto stall = std::ranges::find_if(stalls, [shard](const StallWatchdog::Stall& known) {
    return known.shard == shard && known.is_going_on && known.doing;
  });
  if (stall == stalls.end()) return {};
  const coroutine::Interruption& doing = *stall->doing;
  std::string text = doing.note.empty() ? "task " + doing.task_name : doing.note;
  const std::string place = place_of(node, doing.trace);
  if (!doing.asleep_in.empty()) text += " sleeps in " + doing.asleep_in;
  return place.empty() ? text : text + ", " + place;
}

std::string text_of(const ShardSilence& silence, const std::string& work) {
  return "shard " + std::to_string(silence.shard) + " has not turned for " +
         fixed_text(in_seconds(silence.time), 1) + " s" + (work.empty() ? "" : ": " + work);
}

}  // namespace

std::string silence_text(Node& node, const ShardSilence& silence) {
  return text_of(silence, work_of(node, silence.shard));
}

void name_silent_shards(Json& page, Node& node, const std::vector<ShardSilence>& silent) {
  if (silent.empty()) return;
  Json rows = Json::array();
  for (const ShardSilence& silence : silent) {
    const std::string work = work_of(node, silence.shard);
    rows.push_back({{"shard", silence.shard},
                    {"seconds", rounded(in_seconds(silence.time), 1'000)},
                    {"work", work},
                    {"text", text_of(silence, work)}});
  }
  page["silent_shards"] = std::move(rows);
}

}  // namespace corolane::framework::detail
