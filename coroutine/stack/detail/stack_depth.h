// How deep a stack was used: made blank before, looked at afterwards.
//
// The pages below are given back to the kernel, so that those that come into being tell of
// themselves (mincore); what is left of the top page is zeroed. Then the deepest use lies in the
// lowest page that exists, at the lowest word in it that is not zero. Nothing is paid in between,
// but for the pages, which have to come back.
#pragma once

#include <cstddef>

namespace corolane::coroutine::detail {

// Blanks the stack [base, used), of which nothing may be in use. False when the kernel refuses:
// then there is nothing to measure. `base` begins a page.
bool blank_stack(std::byte* base, std::byte* used);

// The lowest byte at or above `base` that was used since, at the most `used`. May be called on
// that stack: then it is at least as deep as this call.
const std::byte* lowest_use(std::byte* base, const std::byte* used);

}  // namespace corolane::coroutine::detail
