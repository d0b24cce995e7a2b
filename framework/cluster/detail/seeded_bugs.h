// SPDX-License-Identifier: MIT
// Deliberate bugs that the ownership protocol must exclude, to show that the checkers of the
// simulation catch them. They exist in the simulator alone: tools/simulation compiles the sources
// that have one again, with COROLANE_SEEDED_BUGS. Elsewhere COROLANE_SEEDED_BUG() is false.
//
// Only .cc files ask for a bug: an inline function would differ between the two.
#pragma once

#ifdef COROLANE_SEEDED_BUGS
#define COROLANE_SEEDED_BUG(name) (::corolane::framework::detail::seeded_bugs.name)
#else
#define COROLANE_SEEDED_BUG(name) false
#endif

namespace corolane::framework::detail {

struct SeededBugs {
  bool no_seal = false;                    // An object is loaded without being sealed.
  bool load_before_seal = false;           // An object is loaded before it is sealed.
  bool fence_from_cached_time = false;     // The fence is compared with the time of the turn.
  bool reply_before_write = false;         // A durable method replies before the write.
  bool request_ids_outside_state = false;  // Applied requests are remembered in memory only.
  bool request_ids_evicted = false;        // An object remembers 64 callers and forgets the others.
  bool request_ids_destroyed = false;      // A tombstone forgets the request ids of its object.
  bool outbox_sent_early = false;          // Calls leave an outbox before they are stored.
  bool outbox_without_ids = false;         // Calls from an outbox have no request id.
  bool nothing_undone = false;             // A durable handler that fails leaves its changes.
  bool no_tombstone = false;               // The row of a destroyed object is removed at once.
  bool destroyed_and_served = false;       // A destroyed object goes on serving.
  bool retry_on_unknown = false;           // A call that may have been executed is retried.
  bool cache_without_epoch = false;        // A former owner of a partition still serves it.
  bool set_back_trusted = false;           // An owner writes on over a store that has lost writes.
  bool shard_of_caller = false;            // Each shard has an object of its own for its callers.
  bool reply_after_fence = false;          // The clock of the fence stands still.
  bool calls_after_fence = false;          // An object of a fenced node calls other objects.
  bool reply_without_proof = false;        // Without a lease a reply asks nobody.
  bool directory_trusted = false;          // A node joins a directory that was replaced.
  bool generation_ignored = false;         // The epochs of a replaced directory begin anew.
  bool node_epochs_reused = false;         // So do the epochs of its nodes.
  bool watch_trusted = false;              // A claim relies on the watch and compares nothing.
  bool hand_over_without_compare = false;  // A hand-over does not compare the owner.
  bool version_check_off = false;          // A write replaces any version.
  bool keepalive_time_at_answer = false;   // A lease is counted from its answer.
};

#ifdef COROLANE_SEEDED_BUGS
extern SeededBugs seeded_bugs;
#endif

}  // namespace corolane::framework::detail
