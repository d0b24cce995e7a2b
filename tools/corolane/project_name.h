// SPDX-License-Identifier: MIT
// The rules for project names: a name is a folder, a namespace, a protobuf package and the prefix
// of the cmake targets.
#pragma once

#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// Fails with invalid_argument, and a message that says why and proposes another name.
Result<void> check_project_name(std::string_view name);

}  // namespace corolane::tools::cli
