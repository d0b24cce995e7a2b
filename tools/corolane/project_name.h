// What a project may be called: its name is a folder, a namespace, a package of protobuf and the
// beginning of what cmake builds.
#pragma once

#include <string_view>

#include "coroutine/base/result.h"

namespace corolane::tools::cli {

// Fails with invalid_argument whose message says why not, and proposes another one.
Result<void> check_project_name(std::string_view name);

}  // namespace corolane::tools::cli
