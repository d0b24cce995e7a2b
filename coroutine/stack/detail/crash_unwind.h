// Walks stacks in a handler of a fatal signal: without allocating, and from places that no call can
// have reached. The first walk of a process may allocate: make it beforehand.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace corolane::coroutine::detail {

// Writes the innermost frames, as many as fit, and returns their number; like unwind_suspended().
std::size_t unwind_suspended_into(const void* frame, std::span<std::uintptr_t> addresses);

// Walks the code that the calling signal handler has interrupted. The first address is that of the
// instruction itself, unless it is not code: for a wild call the caller comes first. Modifies
// `interrupted` meanwhile.
std::size_t unwind_crashed(ucontext_t& interrupted, std::span<std::uintptr_t> addresses);

}  // namespace corolane::coroutine::detail
