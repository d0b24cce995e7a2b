// SPDX-License-Identifier: MIT
// An awaitable of until(): it refers to its operation, which ends with the expression.
#include "coroutine/async/async.h"
#include "coroutine/sync/event.h"

using namespace corolane;
using namespace corolane::coroutine;

Async<void> wait(Event& event) {
#if defined(NAMED)
  auto wait = until(event.waiting(), Deadline::never());
  co_return co_await wait;
#else
  co_return co_await until(event.waiting(), Deadline::never());
#endif
}
