// SPDX-License-Identifier: MIT
// Statistics as text for people.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// Fails with invalid_argument when `json` is not a JSON object.
Result<std::string> stats_text(std::string_view json);

}  // namespace corolane::tools::cli
