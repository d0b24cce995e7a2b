// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/context.h"

#include <cxxabi.h>

#include <cerrno>
#include <utility>

namespace corolane::coroutine::detail {

FloatingPointState ThreadState::find() {
  exceptions = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  error_number = &errno;
  return std::exchange(arithmetic, FloatingPointState::present());
}

}  // namespace corolane::coroutine::detail
