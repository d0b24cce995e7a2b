// What of a context is not inlined: the state of the thread below it, and the check that our
// declarations of Boost.Context are Boost's.
#include "coroutine/detail/context.h"

#include <cxxabi.h>

#include <boost/context/detail/fcontext.hpp>
#include <cerrno>
#include <type_traits>

#include "coroutine/detail/context_switch.h"

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
    std::is_same_v<decltype(&fcontext::make_fcontext),
                   fcontext::fcontext_t (*)(void*, std::size_t, void (*)(fcontext::transfer_t))>);
static_assert(
    std::is_same_v<decltype(&fcontext::ontop_fcontext),
                   fcontext::transfer_t (*)(fcontext::fcontext_t, void*,
                                            fcontext::transfer_t (*)(fcontext::transfer_t))>);

}  // namespace

ThreadState ThreadState::of_this_thread() {
  return {.exceptions = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals()),
          .error_number = &errno};
}

}  // namespace corolane::coroutine::detail
