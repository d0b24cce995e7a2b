// SPDX-License-Identifier: MIT
// Sizes of stacks that a node suggests from what it has measured, and a configuration with them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "tools/corolane/command.h"

namespace corolane::tools::cli {

// By the name of the method, "chess.Game/Move".
using StackSizes = std::map<std::string, std::size_t, std::less<>>;

// The methods for which another stack than the present one is suggested, from the JSON of
// /methods; a smaller one only after a hundred measurements. Fails with invalid_argument when that
// is no such JSON.
Result<StackSizes> suggested_sizes(std::string_view methods_json);

// Returns the YAML text of a configuration with these sizes under node.stacks.methods. Other
// methods that are listed there, all other keys and all comments stay as they are. Fails with
// failed_precondition where that section is written in a way that only a person can edit.
Result<std::string> with_stack_sizes(std::string_view yaml, const StackSizes& sizes);

// `corolane stacks --apply FILE`: suggested_sizes() of a node, written to FILE.
Outcome apply_stack_sizes(const Arguments& arguments);

}  // namespace corolane::tools::cli
