// SPDX-License-Identifier: MIT
#include "coroutine/stackless_info.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "coroutine/detail/async_strand.h"
#include "coroutine/detail/instruments.h"
#include "coroutine/detail/spawn_site_record.h"
#include "coroutine/scheduler.h"

namespace corolane::coroutine {

StacklessInfo Scheduler::stackless(std::size_t count_max) const {
  StacklessInfo info;
  std::size_t group_count = 0;
  instruments_->strand_groups.for_each([&](const detail::StrandGroup& group) {
    info.count += group.count;
    ++group_count;
  });
  if (group_count == 0) return info;

  std::map<std::tuple<std::uintptr_t, std::uintptr_t, std::string_view>, StacklessWait> waits;
  const std::size_t share = std::max<std::size_t>(count_max / group_count, 1);
  instruments_->strand_groups.for_each([&](const detail::StrandGroup& group) {
    std::size_t left = share;
    group.strands.for_each_while([&](const detail::GroupStrand& strand) {
      if (left-- == 0) return false;
      const char* const waiting_for = strand.waiting_for();
      StacklessWait& wait = waits[{detail::SpawnSiteRecord::key_of(group.site), strand.code(),
                                   waiting_for == nullptr ? "" : waiting_for}];
      ++wait.count;
      ++info.seen_count;
      wait.site = group.site;
      if (waiting_for != nullptr) {
        wait.longest = std::max(wait.longest, strand.waiting_since(turn_time_));
      }
      return true;
    });
  });
  for (auto& [key, wait] : waits) {
    wait.code = std::get<1>(key);
    wait.waiting_for = std::get<2>(key);
    info.waits.push_back(std::move(wait));
  }
  std::ranges::stable_sort(info.waits, std::greater{}, &StacklessWait::count);
  return info;
}

std::string to_text(const StacklessInfo& info) {
  std::string text;
  for (const StacklessWait& wait : info.waits) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(wait.longest).count();
    text += "  " + std::to_string(wait.count) + " stackless coroutines, " +
            (wait.waiting_for.empty() ? "ready" : "wait for " + wait.waiting_for) + ", " +
            std::to_string(seconds) + " s at the longest, of the group at " +
            wait.site.file_name() + ":" + std::to_string(wait.site.line()) + "\n";
  }
  if (info.seen_count < info.count) {
    text += "  and " + std::to_string(info.count - info.seen_count) + " more\n";
  }
  return text;
}

}  // namespace corolane::coroutine
