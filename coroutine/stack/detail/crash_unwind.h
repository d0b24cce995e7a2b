// Walks stacks in a handler of a fatal signal: without allocating, and from where no call could
// have come. The first look of a process at any stack may allocate: take it before.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace corolane::coroutine::detail {

// The innermost frames, as many as there is room for; returns their number. As unwind_suspended().
std::size_t unwind_suspended_into(const void* frame, std::span<std::uintptr_t> addresses);

// Of what the signal has interrupted, whose handler calls this. The first address is that of the
// instruction itself, unless nothing is there: of a call that went astray its caller is the first.
// `interrupted` is another one meanwhile.
std::size_t unwind_crashed(ucontext_t& interrupted, std::span<std::uintptr_t> addresses);

}  // namespace corolane::coroutine::detail
