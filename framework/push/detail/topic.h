// SPDX-License-Identifier: MIT
// The publications of one object while it lives here. Its readers forward them to the shards of its
// subscribers, one reader per shard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

class Topic {
 public:
  // `position` precedes its first publication.
  explicit Topic(Position position);
  ~Topic() { end(); }
  Topic(const Topic&) = delete;
  Topic& operator=(const Topic&) = delete;

  // The position of the latest publication.
  Position position() const { return position_; }
  bool has_held() const { return position_ != broadcast_->position(); }
  bool has_readers() const { return reader_count() > 0; }
  std::size_t reader_count() const { return broadcast_->reader_count(); }
  // A reader of the publications up to `after` continues there, if what follows is still known.
  Broadcast::Reader read(Position after = {}) { return Broadcast::Reader(broadcast_, after); }

  // The message may be null when there are no readers. A held message, and all after it, become
  // readable by release().
  void publish(Broadcast::Message message, bool is_held, PublicationTrace trace = nullptr);
  void release() { release(position_); }
  // The same for those up to `end`.
  void release(Position end);
  // Discards the held messages after `position`, which release() would make readable.
  void take_back(Position position);

  // The store has found our seal after the publication with that number: see ObjectCell::prove().
  void note_proven(std::uint64_t sequence) {
    proven_sequence_ = std::max(proven_sequence_, sequence);
  }
  bool is_proven(Position end) const { return end.sequence <= proven_sequence_; }

  // Ends the readers, which then locate the object again; held messages are discarded.
  void end();

 private:
  struct Held {
    Broadcast::Message message;
    PublicationTrace trace;
  };

  void append(Held held) { broadcast_->append(std::move(held.message), std::move(held.trace)); }

  Position position_;
  std::uint64_t proven_sequence_ = 0;
  std::shared_ptr<Broadcast> broadcast_;
  std::vector<Held> held_;  // After the broadcast's messages.
  std::size_t held_bytes_ = 0;
};

}  // namespace corolane::framework::detail
