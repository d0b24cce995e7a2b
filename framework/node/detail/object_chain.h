// SPDX-License-Identifier: MIT
// What an object waits for, step by step, as far as its shard can tell: the call that it runs, the
// lock that this waits for, the task that holds the lock, and so on. The way ends at a call of
// another object or at a subscription to one, of which its own shard tells the rest, or at
// something that no task holds.
//
//   const ObjectChain chain = chain_of(shard, "chess.Player", "ada");
//   for (const WaitStep& step : chain.steps) print(step);
//   if (chain.next) ask_its_owner(*chain.next);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/task_info.h"

namespace corolane::framework {

class Shard;

namespace detail {

// "chess.Player" and "ada".
struct ChainObject {
  std::string type;
  std::string id;
};

struct WaitStep {
  enum class Kind : std::uint8_t {
    absent,    // Not in memory.
    moving,    // To another node: calls wait.
    idle,      // Nothing runs, and nothing waits.
    runs,      // The object runs the method `what`, or is in a turn for that.
    loads,     // The same while it comes into memory.
    outside,   // The same without a turn.
    computes,  // The task has a processor, or waits for one.
    call,      // It waits for the method `what` of the object `object`.
    reminder,  // The object runs its reminder `what`, in a turn.
    event,     // The object runs its handler of a publication of the object `object`, in a turn.
    follow,    // It waits for a publication of the object `object`.
    change,    // It waits for a change of its own object: wait_until().
    store,     // It waits for the store to do `what` with it.
    lock,      // It waits for a lock, named `what`, that the task `holder` holds.
    waits,     // It waits for something named `what`, which no task holds.
    again,     // The task holds a lock for which an earlier step waits.
  };

  Kind kind = Kind::idle;
  // The object whose visitor this is about, when that is not the one asked for: it holds a lock.
  std::optional<ChainObject> of = {};
  std::string what = {};
  Duration time{};             // How long it lasts.
  coroutine::TaskId task = 0;  // The one that does it; 0: none.
  std::string task_name = {};
  std::optional<std::source_location> site = {};  // Where the lock or the like was made.
  coroutine::TaskId holder = 0;                   // 0: a stackless coroutine.
  std::string holder_name = {};
  // The callee, whose call the holder runs, or what is followed.
  std::optional<ChainObject> object = {};
  // Of a change: the next reminder of the object, which may make it; and its timers.
  std::string reminder = {};
  Duration reminder_in{};
  std::size_t timer_count = 0;
  Deadline deadline = Deadline::never();  // Of the wait or the call.
};

struct ObjectChain {
  std::vector<WaitStep> steps = {};
  std::optional<ChainObject> next = {};  // Waited for by the last step.
};

// Suspends between objects. There are at most a few dozen steps.
ObjectChain chain_of(const Shard& shard, std::string_view type, const std::string& id);

}  // namespace detail
}  // namespace corolane::framework
