// SPDX-License-Identifier: MIT
// The values that the calls of a handler inherit implicitly: its remaining time, its principal, its
// trace, and which resources it may take.
//
//   if (const rpc::CallScope* scope = rpc::CallScope::current()) {
//     log.info("saving", {{"trace", trace_id_text(scope->trace)}});
//   }
//
// It is a task-local value, set by the server while a handler runs and inherited by the tasks that
// the handler spawns. Client::call() reads it. Time and principal end with the handler: a task in
// the background keeps only the trace.
#pragma once

#include <cstdint>
#include <optional>

#include "coroutine/base/deadline.h"
#include "coroutine/task_local.h"
#include "rpc/principal.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

struct CallScope {
  // The deadline of the calls made here: a little before the handler's own, so that the handler can
  // still reply when a callee uses up its time. Read it by deadline_of_calls().
  Deadline deadline = Deadline::never();
  [[no_unique_address]] TraceContext trace = {};  // Its tail padding holds what follows.
  // False in work for a client whose address holds many calls: such work takes none of the last
  // tenth of the stacks, on any thread.
  bool may_take_last_stacks = true;
  // The handler whose scope it is, while it runs; no handler by default.
  std::uint16_t handler_place = 0;
  std::uint32_t handler_number = 0;

  // A handler that runs in the scope of the running task, until it is destroyed. `principal`
  // outlives it.
  class Handler {
   public:
    Handler(CallScope& scope, const Principal& principal);
    ~Handler();
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

   private:
    std::uint16_t place_;
  };
  // The same for a handler that runs as a part of a task, in a scope of its own.
  class Part;

  // The running task's scope; null outside handlers.
  static inline const CallScope* current();
  static CallScope& enter(const CallScope& scope);
  // The running task's scope, for changes. Outside handlers it creates an empty one.
  static CallScope& current_or_new();

  // The deadline for calls made now: never once the handler has ended.
  Deadline deadline_of_calls() const;

  // may_take_last_stacks of the running task; true outside handlers.
  static bool current_may_take_last_stacks();
  // The principal on whose behalf the running task works: that of its handler; null when there is
  // none, or it is anonymous. Valid while the handler runs: a task that it has spawned may outlive
  // it, so such a task gets a copy, in `copy`.
  static const Principal* current_principal(std::optional<Principal>& copy) {
    const CallScope* const scope = current();
    return scope == nullptr || scope->handler_place == 0 ? nullptr : scope->principal(copy);
  }

  // The deadline for the calls of a handler: earlier than its own by a tenth of the time left, at
  // most ten milliseconds, which covers a round trip in a data centre and a turn of a busy loop.
  static Deadline before(Deadline handler_deadline, TimePoint now);

 private:
  const Principal* principal(std::optional<Principal>& copy) const;
};

// Together with the chain of calls it just fits into a task's inline storage (TaskLocals): a larger
// scope would cost an allocation per call.
static_assert(sizeof(CallScope) <= 40);

namespace detail {

extern constinit coroutine::TaskLocal<CallScope, coroutine::Inheritance::copy> call_scope;

}  // namespace detail

inline const CallScope* CallScope::current() { return detail::call_scope.get(); }

class CallScope::Part {
 public:
  // Constructed inside the part (coroutine::CancelScope). `outer` is the scope around it, or null:
  // what the part has of it is a copy. `principal` outlives the part.
  Part(const CallScope* outer, Deadline deadline, const Principal& principal)
      : scope_(detail::call_scope), handler_(begin(outer, deadline), principal) {}

 private:
  CallScope& begin(const CallScope* outer, Deadline deadline) {
    CallScope& scope = scope_.value();
    scope.deadline = deadline;
    if (outer != nullptr) {
      scope.may_take_last_stacks = outer->may_take_last_stacks;
      if (outer->trace.is_valid()) scope.trace = outer->trace;
    }
    return scope;
  }

  coroutine::TaskLocal<CallScope, coroutine::Inheritance::copy>::Guest scope_;
  const Handler handler_;
};

}  // namespace corolane::rpc
