// SPDX-License-Identifier: MIT
// The state of a node in one word, the worst that applies. It asks no shard.
#pragma once

#include <cstdint>

namespace corolane::framework {
class Node;
}

namespace corolane::framework::detail {

// From good to bad, as the history has it.
enum class NodeState : std::uint8_t {
  serving,
  stopping,    // It hands over what it has, or ends.
  store_full,  // The store refuses changes.
  fenced,      // It does not hear from the directory, and serves no object.
  hanging,     // The loop of a shard does not turn.
};

NodeState node_state(const Node& node);

}  // namespace corolane::framework::detail
