// SPDX-License-Identifier: MIT
// Starts a flow with Boost.Context, and checks that our declarations match Boost's.
#include "coroutine/stack/detail/jump.h"

#if !COROLANE_OWN_JUMP

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <type_traits>

#include "coroutine/stack/detail/context.h"

namespace corolane::coroutine::detail {
namespace {

namespace fcontext = boost::context::detail;

static_assert(std::is_same_v<fcontext::fcontext_t, void*>);
static_assert(sizeof(Transfer) == sizeof(fcontext::transfer_t) &&
              offsetof(Transfer, left) == offsetof(fcontext::transfer_t, fctx) &&
              offsetof(Transfer, data) == offsetof(fcontext::transfer_t, data));
static_assert(std::is_same_v<decltype(&fcontext::jump_fcontext),
                             fcontext::transfer_t (*)(fcontext::fcontext_t, void*)>);
static_assert(
    std::is_same_v<decltype(&fcontext::ontop_fcontext),
                   fcontext::transfer_t (*)(fcontext::fcontext_t, void*,
                                            fcontext::transfer_t (*)(fcontext::transfer_t))>);

extern "C" void* corolane_make_fcontext(void* top, std::size_t size_bytes,
                                        void (*entry)(Transfer)) asm("make_fcontext");
static_assert(
    std::is_same_v<decltype(&fcontext::make_fcontext),
                   fcontext::fcontext_t (*)(void*, std::size_t, void (*)(fcontext::transfer_t))>);

}  // namespace

// On x86-64 Boost.Context gives the flow the floating-point control words of its caller, which may
// be leaving and may not have restored those of the thread.
void* make_frame(std::byte* top, std::size_t size_bytes, void (*entry)(Transfer)) {
  const FloatingPointState own = FloatingPointState::present();
  ThreadState::apply_arithmetic();
  void* const frame = corolane_make_fcontext(top, size_bytes, entry);
  own.apply();
  return frame;
}

}  // namespace corolane::coroutine::detail

#endif
