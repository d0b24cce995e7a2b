// SPDX-License-Identifier: MIT
#include "rpc/call_scope.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include "coroutine/task_info.h"
#include "coroutine/task_local.h"

namespace corolane::rpc {
namespace {

using coroutine::Inheritance;
using coroutine::TaskLocal;

constexpr Duration margin_max = std::chrono::milliseconds(10);

constinit TaskLocal<CallScope, Inheritance::copy> call_scope;

// The handlers that run on this thread. A scope names its handler by place and number, so that a
// copy of the scope tells whether the handler still runs. Place 0 means that a scope has no
// handler. A handler that finds all places taken gets none: its tasks keep its deadline.
struct Running {
  std::uint32_t number = 0;  // It changes when a handler begins here, and when it ends.
  std::uint16_t next_free = 0;
  coroutine::TaskId task = 0;
  const Principal* principal = nullptr;
};

class RunningHandlers {
 public:
  std::uint16_t add(const Principal& principal) {
    std::uint16_t place = first_free_;
    if (place != 0) {
      first_free_ = all_[place].next_free;
    } else if (all_.size() <= std::numeric_limits<std::uint16_t>::max()) {
      place = static_cast<std::uint16_t>(all_.size());
      all_.emplace_back();
    } else {
      return 0;
    }
    Running& running = all_[place];
    ++running.number;
    running.task = coroutine::current_task_id();
    running.principal = &principal;
    return place;
  }
  void remove(std::uint16_t place) {
    if (place == 0) return;
    ++all_[place].number;
    all_[place].next_free = first_free_;
    first_free_ = place;
  }
  const Running& at(std::uint16_t place) const { return all_[place]; }
  // Null when it has ended.
  const Running* find(const CallScope& scope) const {
    const Running& running = all_[scope.handler_place];
    return running.number == scope.handler_number ? &running : nullptr;
  }

 private:
  std::vector<Running> all_{1};
  std::uint16_t first_free_ = 0;
};

thread_local RunningHandlers running_handlers;

}  // namespace

const CallScope* CallScope::current() { return call_scope.get(); }

CallScope& CallScope::enter(const CallScope& scope) {
  CallScope& entered = call_scope.get_or_new();
  // Member by member: a copy of the whole would stall on the caller's recent stores.
  entered.deadline = scope.deadline;
  entered.may_take_last_stacks = scope.may_take_last_stacks;
  entered.handler_place = scope.handler_place;
  if (scope.trace.is_valid() || entered.trace.is_valid()) entered.trace = scope.trace;
  return entered;
}

bool CallScope::current_may_take_last_stacks() {
  const CallScope* const scope = current();
  return scope == nullptr || scope->may_take_last_stacks;
}

CallScope& CallScope::current_or_new() { return call_scope.get_or_new(); }

CallScope::Handler::Handler(CallScope& scope, const Principal& principal)
    : place_(running_handlers.add(principal)) {
  scope.handler_place = place_;
  scope.handler_number = running_handlers.at(place_).number;
}

CallScope::Handler::~Handler() { running_handlers.remove(place_); }

Deadline CallScope::deadline_of_calls() const {
  const bool has_ended = handler_place != 0 && running_handlers.find(*this) == nullptr;
  return has_ended ? Deadline::never() : deadline;
}

const Principal* CallScope::current_principal(Principal& copy) {
  const CallScope* const scope = current();
  if (scope == nullptr || scope->handler_place == 0) return nullptr;
  const Running* const running = running_handlers.find(*scope);
  if (running == nullptr || running->principal->is_anonymous()) return nullptr;
  if (running->task == coroutine::current_task_id()) return running->principal;
  copy = *running->principal;
  return &copy;
}

Deadline CallScope::before(Deadline handler_deadline, TimePoint now) {
  if (handler_deadline.is_never() || handler_deadline.time() <= now) return handler_deadline;
  const Duration left = handler_deadline.time() - now;
  return Deadline::at(handler_deadline.time() - std::min(margin_max, left / 10));
}

}  // namespace corolane::rpc
