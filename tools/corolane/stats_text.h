// Statistics for people to read.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// Lays out a JSON object of sections, whatever is in them: a line for each value and each group of
// values, with what belongs below each other aligned.
//
//   coroutine
//     switch_ns  count 120000  mean  8.3  p50  8
//     create_ns  count    900  mean 41.0  p50 39
//     tasks      12
//
// Fails with invalid_argument when it is no JSON object.
Result<std::string> stats_text(std::string_view json);

}  // namespace corolane::tools::cli
