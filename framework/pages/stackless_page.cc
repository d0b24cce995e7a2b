// SPDX-License-Identifier: MIT
// /tasks/stackless: what the node's stackless coroutines wait for; equal ones are grouped.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "coroutine/inspect/symbols.h"
#include "coroutine/scheduler.h"
#include "coroutine/stackless_info.h"
#include "coroutine/task_info.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"

namespace corolane::framework::detail {
namespace {

using coroutine::StacklessInfo;
using coroutine::StacklessWait;

// Looking at more would hold up the calls of the shard.
constexpr std::size_t seen_count_max = 20'000;
constexpr std::size_t stackless_rows_max = 200;

StacklessInfo stackless_of(const Shard& shard) {
  return shard.scheduler().stackless(seen_count_max);
}

void add(StacklessInfo& sum, const StacklessInfo& more) {
  sum.count += more.count;
  sum.seen_count += more.seen_count;
  for (const StacklessWait& wait : more.waits) {
    const auto same = std::ranges::find_if(sum.waits, [&](const StacklessWait& known) {
      return known.code == wait.code && known.waiting_for == wait.waiting_for &&
             known.site.line() == wait.site.line() &&
             known.site.file_name() == std::string_view(wait.site.file_name());
    });
    if (same == sum.waits.end()) {
      sum.waits.push_back(wait);
    } else {
      same->count += wait.count;
      same->longest = std::max(same->longest, wait.longest);
    }
  }
}

std::string function_of(coroutine::Symbols& symbols, const StacklessWait& wait) {
  if (wait.code == 0) return "";  // It runs.
  // Stands for a return address: it lies behind the first byte of the function.
  const auto frames = symbols.frames({.return_addresses = {wait.code + 1}});
  return frames.empty() ? "" : frames.back().function;
}

Json stackless_json(const StacklessInfo& info, coroutine::Symbols& symbols) {
  Json rows = Json::array();
  for (const StacklessWait& wait : info.waits) {
    if (rows.size() == stackless_rows_max) break;
    rows.push_back({{"count", wait.count},
                    {"state", wait.waiting_for.empty() ? "ready" : "suspended"},
                    {"waiting_for", wait.waiting_for},
                    {"longest_in_state_seconds", in_seconds(wait.longest)},
                    {"function", function_of(symbols, wait)},
                    {"group_made_at", site_text(wait.site)}});
  }
  return {{"count", info.count}, {"seen", info.seen_count}, {"groups", std::move(rows)}};
}

std::string stackless_text(const Json& page) {
  std::string text = table_text(page.at("groups"),
                                "COUNT: count, STATE: state, WAITS FOR: waiting_for, "
                                "LONGEST: longest_in_state_seconds, GROUP MADE AT: group_made_at, "
                                "IN: function") +
                     count_text(page.at("count"), "stackless coroutine", "stackless coroutines");
  if (page.at("seen").number() < page.at("count").number()) {
    text += ", " + cell_text(page.at("seen")) + " of them seen";
  }
  return text + "\n";
}

}  // namespace

Result<net::HttpResponse> stackless_page(Node& node, const net::HttpRequest& request) {
  auto shards = from_each_shard(node, stackless_of);
  if (!shards) return shards.error();
  auto all = added_up(std::move(shards->parts),
                      [](StacklessInfo& sum, const StacklessInfo& more) { add(sum, more); });
  std::ranges::stable_sort(all.waits, std::greater{}, &StacklessWait::count);
  Json json;
  node.run_with_symbols([&](coroutine::Symbols& symbols) { json = stackless_json(all, symbols); });
  name_silent_shards(json, node, shards->silent);
  return in_format(request, json, stackless_text);
}

}  // namespace corolane::framework::detail
