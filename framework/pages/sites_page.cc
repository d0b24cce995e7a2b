// SPDX-License-Identifier: MIT
// /sites: the places that spawn coroutines, and the cost of those.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task_info.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"
#include "framework/pages/detail/pages.h"
#include "framework/pages/detail/silent_shards.h"

namespace corolane::framework::detail {
namespace {

using coroutine::SpawnSite;

void add(SpawnSite& sum, const SpawnSite& more) {
  sum.spawned_count += more.spawned_count;
  sum.alive_count += more.alive_count;
  sum.cpu += more.cpu;
  sum.stack_size_bytes = std::max(sum.stack_size_bytes, more.stack_size_bytes);
  sum.stack_used_bytes_max = std::max(sum.stack_used_bytes_max, more.stack_used_bytes_max);
  sum.measured_count += more.measured_count;
}

// The places of several shards, each once.
class Sites {
 public:
  void add(const std::vector<SpawnSite>& sites) {
    for (const SpawnSite& site : sites) {
      const auto [place, is_new] = index_of_.emplace(key_of(site), all_.size());
      if (is_new) {
        all_.push_back(site);
      } else {
        detail::add(all_[place->second], site);
      }
    }
  }
  std::vector<SpawnSite> take() { return std::move(all_); }
  const std::vector<SpawnSite>& all() const { return all_; }

 private:
  // The key that the schedulers use: in libstdc++ a source_location is a pointer to a constant.
  static std::uintptr_t key_of(const SpawnSite& site) {
    static_assert(sizeof(site.place) == sizeof(std::uintptr_t));
    return std::bit_cast<std::uintptr_t>(site.place);
  }

  std::vector<SpawnSite> all_;
  std::unordered_map<std::uintptr_t, std::size_t> index_of_;
};

Sites sites_of(const Shard& shard) {
  Sites sites;
  sites.add(shard.scheduler().sites());
  return sites;
}

std::string place_text(const SpawnSite& site) {
  return site.place.line() == 0 ? "elsewhere" : site_text(site.place);
}

Json sites_json(const std::vector<SpawnSite>& sites) {
  Json rows = Json::array();
  for (const SpawnSite& site : sites) {
    rows.push_back({{"spawned_at", place_text(site)},
                    {"first_name", site.task_name},
                    {"spawned", site.spawned_count},
                    {"alive", site.alive_count},
                    {"cpu_seconds", in_seconds(site.cpu)},
                    {"stack_measured", site.measured_count},
                    {"stack_used_bytes_max", site.stack_used_bytes_max},
                    {"stack_size_bytes", site.stack_size_bytes}});
  }
  return {{"sites", std::move(rows)}};
}

std::string sites_text(const Json& page) {
  return table_text(page.at("sites"),
                    "CPU: cpu_seconds, SPAWNED: spawned, ALIVE: alive, MEASURED: stack_measured, "
                    "DEEPEST: stack_used_bytes_max, STACK: stack_size_bytes, "
                    "FIRST NAME: first_name, SPAWNED AT: spawned_at");
}

}  // namespace

Result<net::HttpResponse> sites_page(Node& node, const net::HttpRequest& request) {
  auto shards = from_each_shard(node, sites_of);
  if (!shards) return shards.error();
  auto sites = added_up(std::move(shards->parts), [](Sites& sum, const Sites& more) {
                 sum.add(more.all());
               }).take();
  std::ranges::sort(sites, std::greater{},
                    [](const SpawnSite& site) { return std::tuple(site.cpu, site.spawned_count); });
  Json page = sites_json(sites);
  name_silent_shards(page, node, shards->silent);
  return in_format(request, page, sites_text);
}

}  // namespace corolane::framework::detail
