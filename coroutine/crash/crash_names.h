// Gives names to the stacks in a report of a crash.
#pragma once

#include <string>
#include <string_view>

namespace corolane::coroutine {

// The same text with functions and lines above each line of addresses (CrashScene::add_stack()),
// which stays. For a report of this very program and its libraries, by whichever process of it: it
// need not be the one that crashed. Blocks, as Symbols does.
std::string name_stacks(std::string_view report);

}  // namespace corolane::coroutine
