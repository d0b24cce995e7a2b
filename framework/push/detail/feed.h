// SPDX-License-Identifier: MIT
// The publications of one object on a shard with subscribers: one Feed serves all of them, finds
// the object, and follows it when it moves.
//
// A feed is a state machine. It has a task only while it looks for its object; then publications
// arrive by Feeds::receive(), whatever their way, until their source ends or is lost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/detail/outlet.h"
#include "framework/push/publication.h"

namespace corolane::rpc {
class Tracer;
}

namespace corolane::framework {
class PublicationBatch;
}

namespace corolane::framework::detail {

// The place of an object that a feed is attached to.
struct FeedPlace {
  std::size_t shard = 0;  // Of this process, or where the line is open.
  LineName line = {};     // None: the object is in this process.
};

// The owner of an object, as far as known; zeros when there is none.
struct FeedOwner {
  std::uint64_t node_epoch = 0;
  std::uint64_t partition_epoch = 0;

  friend bool operator==(const FeedOwner&, const FeedOwner&) = default;
};

class Feed {
 public:
  Feed(std::string_view type, const std::string& id, const google::protobuf::Message& prototype)
      : type_(type),
        id_(id),
        prototype_(prototype),
        broadcast_(std::make_shared<Broadcast>(Broadcast::Bounds(),
                                               Broadcast::Source{.type = type_, .id = id_})) {}
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  const std::string& type() const { return type_; }
  const std::string& id() const { return id_; }
  // Names its present source: another one for each attempt to find the object, so that what comes
  // late from an earlier source is told apart. 0: it has none.
  std::uint64_t number() const { return number_; }
  const std::shared_ptr<Broadcast>& broadcast() const { return broadcast_; }

 private:
  friend class Feeds;

  enum class State : std::uint8_t {
    resting,   // It waits for another attempt.
    queued,    // It waits for a task.
    seeking,   // A task attaches it.
    attached,  // Publications arrive.
    ended,
  };

  // Fails with aborted when the batch precedes one already received, from an earlier owner. The
  // spans of what has arrived go to `tracer`, which may be null.
  Result<void> receive(const PublishedBatch& batch, rpc::Tracer* tracer,
                       bool is_from_other_node = false);
  // The same; fails with data_loss when it cannot be parsed.
  Result<void> receive(const PublicationBatch& batch, rpc::Tracer* tracer);

  const std::string type_;
  const std::string id_;
  const google::protobuf::Message& prototype_;
  const std::shared_ptr<Broadcast> broadcast_;
  State state_ = State::resting;
  std::uint64_t number_ = 0;
  FeedPlace place_;            // While it is attached.
  FeedOwner tried_;            // The owner at its last attempt.
  int failed_count_ = 0;       // Attempts since something has come.
  bool is_new_source_ = true;  // Nothing has come from the present source yet.
};

}  // namespace corolane::framework::detail
