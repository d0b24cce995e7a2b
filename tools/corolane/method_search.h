// SPDX-License-Identifier: MIT
// Finds the method that a user means by part of its name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// Returns the index of the one name that `wanted` stands for. A rule applies only when the earlier
// ones find nothing:
//   - `wanted` is the name, or whole parts at its end: "Chess/Move" and "Move" stand for
//     "corolane.services.chess.Chess/Move";
//   - `wanted` is a prefix of both parts of such an end, "Ch/Mo", or of a method or service, "Mo".
//
// Fails with not_found, and a message with all names and the nearest one; or with invalid_argument,
// and a message with all matches, when there are several.
Result<std::size_t> find_method(std::span<const std::string> full_names, std::string_view wanted);

// The shortest end of a name, at least its service and method, that find_method() finds:
// "Chess/Move".
std::string short_name(std::span<const std::string> full_names, const std::string& name);

}  // namespace corolane::tools::cli
