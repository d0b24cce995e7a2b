// Mistakes that the protocol of ownership excludes, each to be made on purpose by a test: the
// checkers of the simulation have to catch it (framework/testing). Nothing else sets one.
//
//   sim::SimulatedCluster cluster({.seed = seed, .bugs = {.no_seal = true}}, host_accounts);
//
// They are looked at where something has been refused already, or seldom happens, so they cost
// nothing. Those that a store or a clock makes are made by the simulation's.
#pragma once

namespace corolane::framework {

struct SeededBugs {
  bool no_seal = false;                    // An object is loaded and not sealed before.
  bool load_before_seal = false;           // It is loaded, and then sealed.
  bool fence_from_cached_time = false;     // The fence is compared with the time of the turn.
  bool reply_before_write = false;         // A durable method is answered, then stored.
  bool request_ids_outside_state = false;  // What was applied is known to the memory alone.
  bool request_ids_evicted = false;        // An object remembers 64 callers, and forgets others.
  bool retry_on_unknown = false;           // Whatever failed is tried again.
  bool cache_without_epoch = false;        // Who has ever owned a partition serves who believes so.
  bool reply_after_fence = false;          // Whether the fence has fallen nobody asks.
  bool watch_trusted = false;              // A claim goes by what the watch has told.
  bool hand_over_without_compare = false;  // A gift goes by what the giver believes.
  bool version_check_off = false;          // A write replaces whatever version there is.
  bool keepalive_time_at_answer = false;   // A lease counts from when its answer has come.
};

}  // namespace corolane::framework
