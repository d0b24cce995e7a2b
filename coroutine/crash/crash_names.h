// SPDX-License-Identifier: MIT
// Gives names to the stacks in a report of a crash.
//
//   std::cout << name_stacks(read_report("crash.txt"));
#pragma once

#include <string>
#include <string_view>

namespace corolane::coroutine {

// Returns the report with functions and lines above each line of addresses
// (CrashScene::add_stack()), which stays. The report must come from this very program and its
// libraries, though not from this process. Blocks, as Symbols does.
std::string name_stacks(std::string_view report);

}  // namespace corolane::coroutine
