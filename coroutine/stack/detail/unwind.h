// Walks stacks by the call frame information that the compiler leaves for exceptions.
//
// A walk along frame pointers would be faster, but ends, or goes astray, where a task waits inside
// a callback of a library that was built without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "coroutine/stack/stack_trace.h"

namespace corolane::coroutine::detail {

// The trace of a suspended context that has begun: `frame` is its saved registers. Reads its stack
// and runs on the caller's.
StackTrace unwind_suspended(const void* frame);

// The trace of the caller.
StackTrace unwind_here();

// Called in a signal handler, whose third argument is `context`: walks the interrupted code and
// returns the number of addresses written. Async-signal-safe, as is the lookup of call frame
// information since glibc 2.35. A fault ends the walk early, once a scheduler has run in this
// process (overflow_watch.h).
std::size_t unwind_interrupted(const void* context, std::span<std::uintptr_t> addresses);

}  // namespace corolane::coroutine::detail
