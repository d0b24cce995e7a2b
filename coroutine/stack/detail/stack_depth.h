// SPDX-License-Identifier: MIT
// Measures how deep a stack was used: it is blanked before, and examined afterwards.
//
// The pages below are given back to the kernel, so that mincore() shows which of them reappear; the
// rest of the top page is zeroed. Then the deepest use is in the lowest page that exists, at its
// lowest nonzero word. In between it costs nothing except faulting the pages in again.
#pragma once

#include <cstddef>

namespace corolane::coroutine::detail {

// Blanks the stack [base, used), none of which may be in use. Returns false when the kernel
// refuses: then there is nothing to measure. `base` is page-aligned.
bool blank_stack(std::byte* base, std::byte* used);

// The lowest byte at or above `base` that was used since, `used` at the most. When called on the
// same stack, the result is at least as deep as this call.
const std::byte* lowest_use(std::byte* base, const std::byte* used);

// Whether the page of `address` on the stack that begins at `base` was used since the stack has got
// its memory, or since the last call that has returned true: that gives the page, and all below it,
// back. The stack is idle.
bool take_use_of_page(std::byte* base, const std::byte* address);

}  // namespace corolane::coroutine::detail
