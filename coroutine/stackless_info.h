// SPDX-License-Identifier: MIT
// What the stackless coroutines of a scheduler wait for: the data of introspection.
//
//   std::cout << to_text(scheduler.stackless());
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"

namespace corolane::coroutine {

// Those children of an AsyncGroup that wait in the same function for the same.
struct StacklessWait {
  std::source_location site;  // Where their group was made.
  // An address in the function of the innermost coroutine, which Symbols names.
  std::uintptr_t code = 0;
  std::string waiting_for;  // Empty when they are ready, or run.
  std::size_t count = 0;
  // The longest wait of them, to a second or so; a wait of more than 19 hours counts as less.
  Duration longest{};
};

struct StacklessInfo {
  std::vector<StacklessWait> waits;  // The most frequent first.
  std::size_t count = 0;             // All children of groups,
  std::size_t seen_count = 0;        // and those among `waits`: the oldest of each group.
};

// A line for each of the waits.
std::string to_text(const StacklessInfo& info);

}  // namespace corolane::coroutine
