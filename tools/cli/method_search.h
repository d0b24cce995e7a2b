// Which method of a server somebody means.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// The index of the one name that is `wanted` or ends with it: "Chess/Move" fits
// "corolane.services.chess.Chess/Move". Fails with not_found, and all names and the nearest one in
// the message, or with invalid_argument and those that fit when there are several.
Result<std::size_t> find_method(std::span<const std::string> full_names, std::string_view wanted);

}  // namespace corolane::tools::cli
