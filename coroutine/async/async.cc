// SPDX-License-Identifier: MIT
#include "coroutine/async/async.h"

#include <exception>
#include <string>
#include <utility>

namespace corolane::coroutine::detail {

Error stray_async_exception_error() {
  std::string message = "a stackless coroutine ended with a stray exception";
  try {
    throw;
  } catch (const std::exception& exception) {
    Strand::tell_of_stray_exception(exception.what());
    message.append(": ").append(exception.what());
  } catch (...) {
    Strand::tell_of_stray_exception(nullptr);
  }
  return Error(Code::internal, std::move(message));
}

}  // namespace corolane::coroutine::detail
