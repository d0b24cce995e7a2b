// Which method of a server somebody means.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// The index of the one name that `wanted` stands for. Each rule holds when no earlier one finds
// anything:
//   - it is the name, or the end of it from a whole part on: "Chess/Move" and "Move" are
//     "corolane.services.chess.Chess/Move";
//   - it begins both parts of such an end, "Ch/Mo", or the name of a method or service, "Mo".
//
// Fails with not_found, and all names and the nearest one in the message, or with invalid_argument
// and those that fit when there are several.
Result<std::size_t> find_method(std::span<const std::string> full_names, std::string_view wanted);

// The shortest end of a name, from its service on, that find_method() takes for it: "Chess/Move".
std::string short_name(std::span<const std::string> full_names, const std::string& name);

}  // namespace corolane::tools::cli
