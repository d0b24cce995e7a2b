// What one object publishes while it lives here: read by those who bring it to the shards of its
// subscribers, one for each shard.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

class Topic {
 public:
  // `position` is before all that it will publish.
  explicit Topic(Position position);
  ~Topic() { end(); }
  Topic(const Topic&) = delete;
  Topic& operator=(const Topic&) = delete;

  // Of what was published last.
  Position position() const { return position_; }
  bool has_held() const { return position_ != broadcast_->position(); }
  bool has_readers() const { return reader_count() > 0; }
  std::size_t reader_count() const { return broadcast_->reader_count(); }
  Broadcast::Reader read() { return Broadcast::Reader(broadcast_); }

  // The message may be null when there are no readers. One that is held, and all behind it, are not
  // read before release().
  void publish(Broadcast::Message message, bool is_held);
  void release();

  // Those who read look for the object again, wherever it is; what is held is never read.
  void end();

 private:
  Position position_;
  std::shared_ptr<Broadcast> broadcast_;
  std::vector<Broadcast::Message> held_;  // Behind what the broadcast has.
  std::size_t held_bytes_ = 0;
};

}  // namespace corolane::framework::detail
