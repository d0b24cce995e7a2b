// SPDX-License-Identifier: MIT
// The publications of one object on a shard with subscribers: one Feed serves all of them, finds
// the object, and follows it when it moves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "coroutine/task_group.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"

namespace corolane::framework {
class PublicationBatch;
}

namespace corolane::framework::detail {

class Feed;
class Feeds;

// The way to the objects that publish: the router of the shard.
class FeedSource {
 public:
  // Locates the object of the feed and passes its publications to the feed. Suspends until the
  // object leaves its place. Fails as Router::call().
  virtual Result<void> follow(Feed& feed) = 0;

 protected:
  ~FeedSource() = default;
};

class Feed : public std::enable_shared_from_this<Feed> {
 public:
  Feed(Feeds& feeds, std::string_view type, const std::string& id,
       const google::protobuf::Message& prototype);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  const std::string& type() const { return type_; }
  const std::string& id() const { return id_; }
  const std::shared_ptr<Broadcast>& broadcast() const { return broadcast_; }

  // Batches come from a new source from now on.
  void begin() { is_new_source_ = true; }
  // Fails with aborted when the batch precedes one already received, from an earlier owner; with
  // data_loss when it cannot be parsed.
  Result<void> receive(const PublishedBatch& batch);
  Result<void> receive(const PublicationBatch& batch);

 private:
  friend class Feeds;

  void run();

  Feeds& feeds_;
  const std::string type_;
  const std::string id_;
  const google::protobuf::Message& prototype_;
  const std::shared_ptr<Broadcast> broadcast_;
  bool is_new_source_ = true;
  coroutine::TaskRef task_;  // Valid until run() has returned or was cancelled.
};

// All feeds of one shard.
class Feeds {
 public:
  struct Statistics {
    std::size_t object_count = 0;  // Objects with subscribers here.
    std::size_t subscription_count = 0;
    std::uint64_t behind_count = 0;  // Gaps reported to slow subscribers.
  };

  // `source` outlives it.
  explicit Feeds(FeedSource& source) : source_(source) {}
  ~Feeds() { stop(); }
  Feeds(const Feeds&) = delete;
  Feeds& operator=(const Feeds&) = delete;

  // Router::subscribe().
  Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                              const google::protobuf::Message& prototype);
  // Ends all subscriptions, and all later ones, with unavailable. Suspends until their tasks have
  // ended.
  void stop();

  Statistics statistics() const;

 private:
  friend class Feed;
  using Key = std::pair<std::string_view, std::string_view>;  // Views into the feed.

  void remove(Feed& feed);

  FeedSource& source_;
  std::map<Key, std::shared_ptr<Feed>> feeds_;
  std::uint64_t past_behind_count_ = 0;  // From removed feeds.
  bool is_stopped_ = false;
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
