// How a flow begins; and the check that our declarations of Boost.Context are Boost's.
#include "coroutine/detail/jump.h"

#if COROLANE_OWN_JUMP

namespace corolane::coroutine::detail {

void* make_frame(std::byte* top, std::size_t, void (*entry)(Transfer)) {
  // As if `entry` had been called, from nowhere: the return address is zero, and the stack is
  // aligned as the System V ABI (3.2.2) has it at the first instruction of a function.
  const auto address = reinterpret_cast<std::uintptr_t>(top);
  auto* const words = reinterpret_cast<void**>(top - address % 16 - 3 * sizeof(void*));
  words[2] = nullptr;
  words[1] = reinterpret_cast<void*>(entry);
  words[0] = nullptr;  // The frame pointer.
  return reinterpret_cast<std::byte*>(words) - 0x38;
}

}  // namespace corolane::coroutine::detail

#else

#include <boost/context/detail/fcontext.hpp>
#include <cfenv>
#include <type_traits>

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

// Boost.Context gives the flow the floating-point control words of whoever calls this, who may be
// about to leave and not have put the usual ones back.
void* make_frame(std::byte* top, std::size_t size_bytes, void (*entry)(Transfer)) {
  std::fenv_t present;
  std::fegetenv(&present);
  std::fesetenv(FE_DFL_ENV);
  void* const frame = corolane_make_fcontext(top, size_bytes, entry);
  std::fesetenv(&present);
  return frame;
}

}  // namespace corolane::coroutine::detail

#endif
