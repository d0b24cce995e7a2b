// SPDX-License-Identifier: MIT
#include "rpc/call_scope.h"

#include <algorithm>
#include <chrono>

#include "coroutine/task_local.h"

namespace corolane::rpc {
namespace {

using coroutine::Inheritance;
using coroutine::TaskLocal;

constexpr Duration margin_max = std::chrono::milliseconds(10);

constinit TaskLocal<CallScope, Inheritance::copy> call_scope;

}  // namespace

const CallScope* CallScope::current() { return call_scope.get(); }

CallScope& CallScope::enter(const CallScope& scope) {
  CallScope& entered = call_scope.get_or_new();
  // Member by member: a copy of the whole would stall on the caller's recent stores.
  entered.deadline = scope.deadline;
  entered.may_take_last_stacks = scope.may_take_last_stacks;
  if (scope.trace.is_valid() || entered.trace.is_valid()) entered.trace = scope.trace;
  return entered;
}

bool CallScope::current_may_take_last_stacks() {
  const CallScope* const scope = current();
  return scope == nullptr || scope->may_take_last_stacks;
}

CallScope& CallScope::current_or_new() { return call_scope.get_or_new(); }

Deadline CallScope::before(Deadline handler_deadline, TimePoint now) {
  if (handler_deadline.is_never() || handler_deadline.time() <= now) return handler_deadline;
  const Duration left = handler_deadline.time() - now;
  return Deadline::at(handler_deadline.time() - std::min(margin_max, left / 10));
}

}  // namespace corolane::rpc
