// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/context.h"

#include <cxxabi.h>

#include <cerrno>

namespace corolane::coroutine::detail {

void ThreadState::find() {
  here = {.exceptions = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals()),
          .error_number = &errno};
}

}  // namespace corolane::coroutine::detail
