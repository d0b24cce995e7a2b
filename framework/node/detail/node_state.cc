// SPDX-License-Identifier: MIT
#include "framework/node/detail/node_state.h"

#include "framework/cluster/detail/membership.h"
#include "framework/node/node.h"
#include "framework/store/detail/store_gate.h"

namespace corolane::framework::detail {

NodeState node_state(const Node& node) {
  if (!node.silent_shards().empty()) return NodeState::hanging;
  if (node.cluster() != nullptr && !node.fence().is_in_time()) return NodeState::fenced;
  if (node.store_health().is_full()) return NodeState::store_full;
  return node.is_stopping() ? NodeState::stopping : NodeState::serving;
}

}  // namespace corolane::framework::detail
