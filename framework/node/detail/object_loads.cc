// SPDX-License-Identifier: MIT
#include "framework/node/detail/object_loads.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "coroutine/task.h"
#include "framework/node/shard.h"
#include "framework/objects/detail/object_host.h"

namespace corolane::framework::detail {
namespace {

// A partition below that is not worth naming an object of.
constexpr double busy_cores_min = 0.01;

std::string busiest_of(const HostedType& type, Partition partition) {
  const auto& cells = type.of_partition(partition);
  const auto busiest =
      std::ranges::max_element(cells, {}, [](const ObjectCell* cell) { return cell->cpu.sum(); });
  if (busiest == cells.end() || (*busiest)->cpu.sum() == Duration::zero()) return {};
  return (*busiest)->id();
}

}  // namespace

LoadsReply loads_of(const Shard& shard) {
  LoadsReply reply;
  if (shard.host() == nullptr) return reply;
  for (const auto& type : shard.host()->types()) {
    for (std::size_t i = 0; i < type->ownership().partition_count(); ++i) {
      const auto partition = static_cast<Partition>(i);
      const double cores = type->loads.cores(partition);
      if (cores <= 0) continue;
      PartitionLoad& load = *reply.add_loads();
      load.set_type(std::string(type->name()));
      load.set_partition(partition);
      load.set_cores(static_cast<float>(cores));
      if (cores >= busy_cores_min) load.set_busiest_id(busiest_of(*type, partition));
    }
    static_cast<void>(coroutine::yield());
  }
  return reply;
}

}  // namespace corolane::framework::detail
