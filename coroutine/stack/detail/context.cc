// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/context.h"

#include <cxxabi.h>

#include <cerrno>

namespace corolane::coroutine::detail {
namespace {

constexpr ExceptionState never_clean = {.caught = nullptr, .in_flight_count = 1};

}  // namespace

ThreadState::Arithmetic ThreadState::find() {
  const Arithmetic before = arithmetic();
  exceptions = reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  error_number = &errno;
  settings = FloatingPointState::present();
  watched_exceptions = settings.has_fingerprint() ? exceptions : &never_clean;
  if (settings.has_fingerprint()) fingerprint = FloatingPointState::fingerprint();
  return before;
}

void ThreadState::set(const Arithmetic& arithmetic) {
  settings = arithmetic.settings;
  fingerprint = arithmetic.fingerprint;
  watched_exceptions = arithmetic.watched_exceptions;
}

}  // namespace corolane::coroutine::detail
