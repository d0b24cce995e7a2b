// SPDX-License-Identifier: MIT
// The protocol of framework/cluster/README.md as a model: all that two nodes, the store, the
// directory and the messages between them may do next.
//
//   const OwnershipModel model({.serves_by_store = true});
//   const auto explored = explore(
//       model.begin(), [&](const State& from, const auto& visit) { model.steps(from, visit); },
//       max);
//
// Each step finds what it violates:
//
//     I1  ownerships are used in the order of their epochs, and an epoch by one process; while the
//         lease is valid the directory also names that node
//     I3  the change of an acknowledged call stays stored
//     I7  a call made after an answer under an epoch is not answered under an earlier one
//     I8  such a call sees all that the answer saw; an owner knows all that earlier ones stored
//
// The moment at which an ownership is used is that of the reply while the lease is valid, and that
// at which the store accepts the write or the proof otherwise: the reply may leave later, as it may
// arrive later.
#pragma once

#include <cstdint>
#include <functional>

#include "test/framework/cluster/model/explorer.h"
#include "test/framework/cluster/model/ownership_state.h"

namespace corolane::model {

// What a protocol might get wrong.
enum class Mistake : std::uint8_t {
  none,
  // Of both modes.
  no_seal,                    // An object is loaded and not sealed.
  load_before_seal,           // An object is loaded before it is sealed.
  write_without_epoch,        // The store compares the version only.
  write_without_version,      // The store compares the epoch only.
  reply_before_write,         // A durable method replies before the write.
  reply_after_fence,          // Nobody looks at the fence before a reply.
  fence_after_lease,          // The lease may expire before the fence passes.
  claim_without_compare,      // A claim compares nothing.
  hand_over_without_compare,  // A hand-over does not compare the owner.
  unknown_hand_over_read,     // After an unknown hand-over the table decides.
  // Of serving by the store.
  reply_without_proof,    // The fence is ignored.
  proof_of_earlier_call,  // One proof is good for later calls.
  proof_without_epoch,    // It finds that the row exists.
  message_without_proof,  // Only replies need one.
  change_not_stored,      // A change is followed by a proof, and is stored later.
  late_keepalive,         // The lease counts as valid from a keepalive's answer on.
  no_floor,               // A released row leaves nothing behind.
  transient_served,       // Objects that no store knows are served on.
};

class OwnershipModel {
 public:
  // Steps that a search must reach to say anything about the second mode.
  static constexpr const char* proven_reply = "replies, proven by the store";
  static constexpr const char* return_to_lease = "hears that its lease lives, and comes back";

  struct Rules {
    // A node whose lease may be gone serves on by the store.
    bool serves_by_store = false;
    // No store knows the object.
    bool is_transient = false;
    Mistake mistake = Mistake::none;
    // The bounds of the search. A fault is a crash, or a call whose outcome stays unknown.
    std::uint8_t revision_max = 5;
    std::uint8_t call_count = 3;
    std::uint8_t change_count = 2;
    std::uint8_t fault_count = 1;
    bool hands_over = true;
    bool sends_messages = false;
    // Seals that the store forgets, as a replica may that is promoted.
    std::uint8_t lost_seal_count = 0;
  };
  using Visit = std::function<void(const Step& step, const State& next)>;

  explicit OwnershipModel(const Rules& rules) : rules_(rules) {}

  // Both nodes have joined, and the first one owns the partition.
  State begin() const;
  void steps(const State& from, const Visit& visit) const;

 private:
  class Steps;

  const Rules rules_;
};

}  // namespace corolane::model
