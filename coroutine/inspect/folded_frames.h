// SPDX-License-Identifier: MIT
// Shortens a stack for people: the frames of corolane between two of the program's own become one
// note, and so do those that repeat.
//
//   Symbols symbols;
//   if (const auto task = scheduler.task(id)) {
//     std::cout << to_text(folded(symbols.frames(task->trace)));
//   }
#pragma once

#include <string_view>
#include <vector>

#include "coroutine/inspect/symbols.h"

namespace corolane::coroutine {

// Whether it is a function of the runtime: neither of the program nor of another library. Functions
// and classes directly in our namespace are the runtime's. Services, which are a program, have a
// namespace of their own within it.
bool is_of_corolane(std::string_view function);

// Returns the frames, innermost first, with notes in place of those that tell nothing:
// - Two or more frames of corolane in a row, with those of the standard library among them, are one
//   note. The one that the program's code has called stays when it is the innermost of its kind,
//   since it says what the task waits for. A stack without any frame of the program keeps all.
// - A frame, or a group of up to four, that repeats as it is, stays once: "the frame above 311
//   times more". This is how recursion looks.
std::vector<SourceFrame> folded(std::vector<SourceFrame> frames);

}  // namespace corolane::coroutine
