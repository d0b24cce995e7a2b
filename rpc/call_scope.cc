// SPDX-License-Identifier: MIT
#include "rpc/call_scope.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

#include "coroutine/task_info.h"

namespace corolane::rpc {
namespace {

constexpr Duration margin_max = std::chrono::milliseconds(10);

// The handlers that run on this thread. A scope names its handler by place and number, so that a
// copy of the scope tells whether the handler still runs. Place 0 means that a scope has no
// handler. A handler that finds all places taken gets none: its tasks keep its deadline.
struct Running {
  std::uint32_t number = 0;  // It changes when a handler begins here, and when it ends.
  std::uint16_t next_free = 0;
  coroutine::TaskId task = 0;
  const Principal* principal = nullptr;
};

// Every call of an object passes here: nothing of it needs the initialisation of a thread_local.
class RunningHandlers {
 public:
  std::uint16_t add(const Principal& principal) {
    if (first_free_ == 0) [[unlikely]] {
      if (!grow()) return 0;
    }
    const std::uint16_t place = first_free_;
    Running& running = all_[place];
    first_free_ = running.next_free;
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
  std::uint32_t number_at(std::uint16_t place) const { return place == 0 ? 0 : all_[place].number; }
  // Null when it has ended.
  const Running* find(const CallScope& scope) const {
    const Running& running = all_[scope.handler_place];
    return running.number == scope.handler_number ? &running : nullptr;
  }

 private:
  // Makes free places; false when there are as many as a scope can name.
  [[gnu::cold]] bool grow();

  Running* all_ = nullptr;  // The one at place 0 is not used.
  std::uint16_t first_free_ = 0;
};

constinit thread_local RunningHandlers running_handlers;

bool RunningHandlers::grow() {
  static thread_local std::vector<Running> storage(1);
  const std::size_t old_size = storage.size();
  constexpr std::size_t size_max = std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1;
  const std::size_t size = std::min(old_size == 1 ? 64 : 2 * old_size, size_max);
  if (size == old_size) return false;
  storage.resize(size);
  all_ = storage.data();
  for (std::size_t place = old_size; place < size; ++place) {
    all_[place].next_free =
        place + 1 == size ? std::uint16_t{0} : static_cast<std::uint16_t>(place + 1);
  }
  first_free_ = static_cast<std::uint16_t>(old_size);
  return true;
}

}  // namespace

constinit coroutine::TaskLocal<CallScope, coroutine::Inheritance::copy> detail::call_scope;

CallScope& CallScope::enter(const CallScope& scope) {
  CallScope& entered = detail::call_scope.get_or_new();
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

CallScope& CallScope::current_or_new() { return detail::call_scope.get_or_new(); }

CallScope::Handler::Handler(CallScope& scope, const Principal& principal)
    : place_(running_handlers.add(principal)) {
  scope.handler_place = place_;
  scope.handler_number = running_handlers.number_at(place_);
}

CallScope::Handler::~Handler() { running_handlers.remove(place_); }

Deadline CallScope::deadline_of_calls() const {
  const bool has_ended = handler_place != 0 && running_handlers.find(*this) == nullptr;
  return has_ended ? Deadline::never() : deadline;
}

const Principal* CallScope::principal(std::optional<Principal>& copy) const {
  const Running* const running = running_handlers.find(*this);
  if (running == nullptr || running->principal->is_anonymous()) return nullptr;
  if (running->task == coroutine::current_task_id()) return running->principal;
  return &copy.emplace(*running->principal);
}

Deadline CallScope::before(Deadline handler_deadline, TimePoint now) {
  if (handler_deadline.is_never() || handler_deadline.time() <= now) return handler_deadline;
  const Duration left = handler_deadline.time() - now;
  return Deadline::at(handler_deadline.time() - std::min(margin_max, left / 10));
}

}  // namespace corolane::rpc
