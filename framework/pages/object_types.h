// The object types that a node knows: those that it hosts, and those of other nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "framework/node/node.h"

namespace corolane::framework::detail {

// The names, sorted.
std::vector<std::string> object_types(const Node& node);

// Finds the type named "chess.Player", or "Player" when no other type ends like that. Fails with
// not_found, and with invalid_argument when there are several.
Result<std::string> find_object_type(const Node& node, std::string_view text);

}  // namespace corolane::framework::detail
