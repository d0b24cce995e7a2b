// SPDX-License-Identifier: MIT
// Reads the owners of a few partitions again: their entries, and those of the nodes that they name.
//
//   auto known = look_up_owners(directory, table, placement, partitions, {}, deadline);
//   if (!known) return known.error();
//   const auto& owner = table.ownerships(placement)[partitions.front()];
//
// A list of the whole table is some thousand times larger, and is needed only when nothing else
// says what has changed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/cluster/cluster_view.h"
#include "framework/cluster/detail/cluster_table.h"
#include "framework/directory/directory.h"

namespace corolane::framework::detail {

// One look-up needs a key for each partition, one for each owner, and a few more.
inline constexpr std::size_t look_up_count_max = (Directory::transaction_size_max - 4) / 2;

// Merges what it reads into the table: the entries of at most `look_up_count_max` partitions, those
// of their owners, and those of at most three other nodes, "NAME.INCARNATION". Suspends. Fails as
// the directory does, and with failed_precondition when another directory, or an earlier state of
// it, answers: then the table is as before.
Result<void> look_up_owners(Directory& directory, ClusterTable& table, const Placement& placement,
                            std::span<const Partition> partitions,
                            std::span<const std::string> nodes, Deadline deadline);

}  // namespace corolane::framework::detail
