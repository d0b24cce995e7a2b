// The stack for signal handlers: a task's own may be full, and is never deep enough for the
// registers that the kernel saves on it.
#pragma once

namespace corolane::coroutine::detail {

// Gives the calling thread an alternate signal stack (sigaltstack(2)) until it ends, unless it has
// one. Returns false when there is no memory for it.
bool give_thread_signal_stack();

}  // namespace corolane::coroutine::detail
