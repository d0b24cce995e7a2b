// SPDX-License-Identifier: MIT
// Walks stacks by the call frame information that the compiler leaves for exceptions.
//
// A walk along frame pointers would be faster, but ends, or goes astray, where a task waits inside
// a callback of a library that was built without them.
//
// Each function writes the innermost frames, as many as fit, and returns their number. All are
// async-signal-safe, as is the lookup of call frame information since glibc 2.35, except that the
// first walk of a process may allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace corolane::coroutine::detail {

// A suspended context that has begun: `frame` is its saved registers. Reads its stack and runs on
// the caller's.
std::size_t unwind_suspended(const void* frame, std::span<std::uintptr_t> addresses);

// A thread that sleeps in the kernel, at this instruction with this stack pointer; `stack_end` is
// the end of its stack, or of the part to look at. It may wake up meanwhile: the frames are then
// those of before, of after, or too few. Its frame pointer is unknown, and is searched for on the
// stack, so a stack that holds the remains of another call may yield a frame too many. Runs on the
// caller's stack, in microseconds to a few milliseconds; needs a scheduler that has run in this
// process, as unwind_interrupted() does. With the address sanitizer it yields the first frame
// alone.
std::size_t unwind_sleeping(std::uintptr_t instruction, std::uintptr_t stack_pointer,
                            std::uintptr_t stack_end, std::span<std::uintptr_t> addresses);

// The caller.
std::size_t unwind_here(std::span<std::uintptr_t> addresses);

// The two below are called in a signal handler, whose third argument is `context`.

// The interrupted code. A fault ends the walk early, once a scheduler has run in this process
// (overflow_watch.h).
std::size_t unwind_interrupted(const void* context, std::span<std::uintptr_t> addresses);

// The code that caused a fatal signal, in places that no call can have reached, too. The first
// address is that of the instruction itself, unless it is not code: for a wild call the caller
// comes first. Modifies the context meanwhile.
std::size_t unwind_crashed(void* context, std::span<std::uintptr_t> addresses);

// The lowest address that the interrupted function needs of its stack. A large frame is touched
// page by page as it begins (-fstack-clash-protection), so the stack pointer may have some way to
// go: the loop compares it with a register, which has the end.
const std::byte* stack_end_needed_by(const void* context);

// The address of the interrupted instruction.
std::uintptr_t instruction_of(const void* context);
// The end of the interrupted stack.
const std::byte* stack_pointer_of(const void* context);

}  // namespace corolane::coroutine::detail
