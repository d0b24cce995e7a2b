// SPDX-License-Identifier: MIT
#include "framework/pages/detail/busy_partitions.h"

#include <algorithm>
#include <vector>

#include "coroutine/scheduler.h"
#include "framework/cluster/cluster.h"
#include "framework/node/detail/object_loads.h"
#include "framework/node/each_shard.h"
#include "framework/pages/detail/page.h"
#include "framework/pages/detail/page_text.h"

namespace corolane::framework::detail {
namespace {

constexpr std::size_t busy_row_count_max = 10;
constexpr double shown_cores_min = 0.01;

Json pin_json(const ClusterView* view, const PartitionLoad& load) {
  const auto* const group = view == nullptr ? nullptr : view->find_group(load.type());
  if (group == nullptr) return {};
  const auto pin = group->pins.find(static_cast<Partition>(load.partition()));
  if (pin == group->pins.end()) return {};
  return pin->second.node + (pin->second.is_by_balancer ? ", by the balancer" : ", by an operator");
}

}  // namespace

Result<Json> busy_partitions_json(Node& node) {
  if (!node.scheduler().statistics().measures_cpu) return Json();
  auto shards = from_each_shard(node, [](const Shard& shard) { return loads_of(shard); });
  if (!shards) return shards.error();
  std::vector<PartitionLoad> all;
  for (const LoadsReply& shard : shards->parts) {
    std::ranges::copy_if(shard.loads(), std::back_inserter(all), [](const PartitionLoad& load) {
      return static_cast<double>(load.cores()) >= shown_cores_min;
    });
  }
  std::ranges::sort(all, std::greater{}, &PartitionLoad::cores);
  if (all.size() > busy_row_count_max) all.resize(busy_row_count_max);
  const auto view = node.cluster() == nullptr ? nullptr : node.cluster()->view();
  Json rows = Json::array();
  for (const PartitionLoad& load : all) {
    rows.push_back(
        {{"partition", load.partition()},
         {"type", load.type()},
         {"shard", load.partition() % node.shard_count()},
         {"cores", rounded(static_cast<double>(load.cores()), 1'000)},
         {"busiest",
          load.busiest_id().empty() ? Json() : Json(load.type() + "/" + load.busiest_id())},
         {"pinned_to", pin_json(view.get(), load)}});
  }
  return rows;
}

std::string busy_partitions_text(const Json& rows) {
  if (rows.is_null()) return "CPU time is not measured\n";
  if (rows.size() == 0) {
    return "no partition has computed for more than a hundredth of the last ten seconds\n";
  }
  return table_text(
      rows,
      "BUSY PARTITION: partition, SHARD: shard, CORES: cores, TYPE: type, "
      "BUSIEST OBJECT: busiest, PINNED TO: pinned_to",
      {{"cores", [](const Json& row) { return fixed_text(row.at("cores").number(), 2); }}});
}

}  // namespace corolane::framework::detail
