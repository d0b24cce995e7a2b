// SPDX-License-Identifier: MIT
// The state of a small cluster, as the model of ownership sees it: two nodes, one object, its row
// in the store, the directory, and all that is on its way between them.
//
// Time is an order of events. A fence passes at any moment; a lease expires at any moment after the
// fence of its node. What is on its way may arrive at any later moment, or never.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace corolane::model {

// A number of the directory: it counts the changes, so the change that adds a key has its own.
using Revision = std::uint8_t;
// The calls whose change it contains: one bit for each.
using Changes = std::uint8_t;

// The row of the object.
struct Row {
  std::uint8_t exists = 0;
  Revision epoch = 0;       // That has sealed it.
  Revision written_by = 0;  // The epoch of the last write.
  std::uint8_t version = 0;
  Changes content = 0;

  friend bool operator==(const Row&, const Row&) = default;
};

// What a node asks the store for, or asked for and does not wait for any more.
struct StoreCall {
  enum Kind : std::uint8_t { none, seal, load, prove, write, release };
  enum Phase : std::uint8_t { on_its_way, refused, done };

  Kind kind = none;
  Phase phase = on_its_way;
  Revision epoch = 0;
  std::uint8_t version = 0;  // That it replaces; in the answer, that of the row.
  Changes content = 0;

  friend bool operator==(const StoreCall&, const StoreCall&) = default;
};

// A transaction of the directory.
struct Commit {
  enum Kind : std::uint8_t { none, claim, give, take_back };
  enum Phase : std::uint8_t { on_its_way, refused, done };

  Kind kind = none;
  Phase phase = on_its_way;
  std::uint8_t node = 0;  // The owner that it names.
  Revision node_key = 0;
  Revision seen = 0;  // The epoch that it replaces; once it is done, the new one.

  friend bool operator==(const Commit&, const Commit&) = default;
};

// A call of a client, or work of the object itself, which sends a message to another object or to
// subscribers.
struct Call {
  enum Kind : std::uint8_t { none, read, write, message };
  enum Phase : std::uint8_t { activating, sealing_late, finding_out, storing, running, proving };

  Kind kind = none;
  Phase phase = activating;
  std::uint8_t has_run = 0;  // Its handler; what is stored then is its own change.
  Changes change = 0;
  // What answers had said when it began.
  Revision heard_epoch = 0;
  Changes heard = 0;

  friend bool operator==(const Call&, const Call&) = default;
};

struct Object {
  std::uint8_t is_active = 0;
  Revision epoch = 0;
  std::uint8_t version = 0;
  Changes content = 0;
  std::uint8_t hides_change = 0;  // A write had an unknown outcome.

  friend bool operator==(const Object&, const Object&) = default;
};

struct Node {
  Revision key = 0;             // Of this life in the directory; 0: it has not joined.
  std::uint8_t is_in_time = 0;  // The fence has not passed.
  std::uint8_t is_kept = 0;     // The answer to a keepalive is on its way, and still in time.
  Revision epoch = 0;           // Of its ownership of the partition; 0: it is not the owner.
  std::uint8_t moves = 0;       // The partition is on its way to the other node.
  std::uint8_t was_proven = 0;  // The store has proven the ownership once.
  Object object;
  Call call;
  StoreCall store_call;
  Commit commit;

  friend bool operator==(const Node&, const Node&) = default;
};

struct State {
  enum Violation : std::uint8_t { nothing, i1, i3, i7, i8 };

  // The directory: the keys of both nodes (0: gone), and the partition's.
  std::array<Revision, 2> keys{};
  std::uint8_t owner = 0;
  Revision owner_key = 0;
  Revision epoch = 0;
  Revision revision = 0;  // Of its last change.
  // The store.
  Row row;
  Revision floor = 0;  // No earlier epoch seals a row that is not there.

  std::array<Node, 2> nodes;
  // Calls that their node does not wait for, and that may still take effect.
  StoreCall late_store_call;
  Commit late_commit;

  // What clients have heard, and what was acknowledged.
  Revision heard_epoch = 0;
  Changes heard = 0;
  Changes acknowledged = 0;
  // The last moment at which an ownership was used: see OwnershipModel.
  Revision moment_epoch = 0;
  Revision moment_key = 0;

  // What may still happen.
  std::uint8_t calls_left = 0;
  std::uint8_t changes_made = 0;
  std::uint8_t faults_left = 0;
  std::uint8_t lost_seals_left = 0;

  Violation violated = nothing;

  std::string_view violation() const;
  std::string describe() const;

  friend bool operator==(const State&, const State&) = default;
};

}  // namespace corolane::model
