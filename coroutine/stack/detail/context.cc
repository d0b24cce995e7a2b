// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/context.h"

#include <cxxabi.h>

#include <cerrno>
#include <utility>

namespace corolane::coroutine::detail {

FloatingPointState ThreadState::find() {
  here.exceptions = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  here.error_number = &errno;
  return std::exchange(here.arithmetic, FloatingPointState::present());
}

}  // namespace corolane::coroutine::detail
