// What a handler hands down to the calls that it makes, without naming it: how long it has left
// itself, the trace in which it is, and what it may take.
//
// A task-local value, set by the server while a handler runs and inherited by the tasks that the
// handler spawns. Client::call() reads it.
#pragma once

#include "coroutine/base/deadline.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

struct CallScope {
  // Of the calls made here: some time before the handler's own, so that it can still answer when a
  // callee uses up all that it is given.
  Deadline deadline = Deadline::never();
  [[no_unique_address]] TraceContext trace = {};  // What follows lies in its last bytes.
  // False in work for a client whose address holds much: it takes none of the last tenth of the
  // stacks, on whichever thread.
  bool may_take_last_stacks = true;

  // The running task's; null outside of handlers.
  static const CallScope* current();
  static CallScope& enter(const CallScope& scope);
  // The same, to be changed: outside of handlers it begins with an empty one.
  static CallScope& current_or_new();

  // The same for the running task; true outside of handlers.
  static bool current_may_take_last_stacks();

  // How much earlier than the handler's deadline that of its calls is: a tenth of what is left, at
  // most ten milliseconds, which is a way through a data centre and a turn of a busy loop.
  static Deadline before(Deadline handler_deadline, TimePoint now);
};

// With the chain of calls it just fits into what a task has for its values (TaskLocals): one that
// is larger would be allocated, at each call.
static_assert(sizeof(CallScope) <= 40);

}  // namespace corolane::rpc
