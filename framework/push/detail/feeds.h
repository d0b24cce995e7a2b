// SPDX-License-Identifier: MIT
// All feeds of one shard. A few tasks look for the objects of all feeds, one after the other; a
// feed whose object cannot be reached rests until its time, or until its owner is another one.
//
//   auto reader = feeds.subscribe("chess.Room", "17", RoomEvent::default_instance());
//   auto event = reader.next(deadline);
//
// All of it belongs to one shard's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "coroutine/member_timer.h"
#include "coroutine/task_group.h"
#include "framework/push/detail/feed.h"

namespace corolane::framework::detail {

// The way to the objects that publish: the router of the shard.
class FeedSource {
 public:
  // Finds the object of the feed and lets it publish to feed.number(); its publications may arrive
  // before this returns. Suspends, but not until the object has an owner. Fails as Router::call().
  virtual Result<FeedPlace> attach(const Feed& feed) = 0;
  // The feed with that number needs nothing more. Never suspends.
  virtual void detach(const FeedPlace& place, std::uint64_t number) = 0;
  virtual FeedOwner owner_of(const Feed& feed) = 0;

 protected:
  ~FeedSource() = default;
};

class Feeds {
 public:
  struct Statistics {
    std::size_t object_count = 0;  // Objects with subscribers here.
    std::size_t subscription_count = 0;
    std::uint64_t behind_count = 0;  // Gaps reported to slow subscribers.
  };
  // Feeds that look for their objects at the same time, each with a task.
  static constexpr std::size_t seeker_count_max = 64;

  // `source` outlives it.
  explicit Feeds(FeedSource& source) : source_(source) {}
  ~Feeds() { stop(); }
  Feeds(const Feeds&) = delete;
  Feeds& operator=(const Feeds&) = delete;

  // Takes the spans of publications that arrive; outlives it. Without one there are none.
  void set_tracer(rpc::Tracer& tracer) { tracer_ = &tracer; }

  // Router::subscribe(). A reader of the publications up to `after` continues there, if what
  // follows is still known here; the first reader of an object, if it is known where the object is.
  Broadcast::Reader subscribe(std::string_view type, const std::string& id,
                              const google::protobuf::Message& prototype, Position after = {});
  // Ends all subscriptions, and all later ones, with unavailable. Suspends until their tasks have
  // ended.
  void stop();

  // What comes from objects, for the feed with that number. False: it wants nothing more of that
  // source. None of these suspends.
  bool receive(std::uint64_t number, const PublishedBatch& batch);
  bool receive(std::uint64_t number, const PublicationBatch& batch);
  // The object no longer publishes there: the feed looks for it again.
  void end_source(std::uint64_t number);
  // All feeds on that line look for their objects again.
  void lose(const LineName& line);
  // Owners may have changed: feeds that rest look again where that is so.
  void look_again();

  // The feed for whose publications a task waits that waits for that (coroutine::Awaited); null:
  // there is none.
  const Feed* find_awaited(const void* identity) const;

  Statistics statistics() const;
  // Without a look at each feed, and with the subscribers who have not heard yet that theirs ended.
  std::size_t subscription_count() const { return *subscription_count_; }

 private:
  using Key = std::pair<std::string_view, std::string_view>;  // Views into the feed.
  using FeedPtr = std::shared_ptr<Feed>;

  template <typename Batch>
  bool receive_any(std::uint64_t number, const Batch& batch);
  void queue(const FeedPtr& feed);
  void rest(const FeedPtr& feed);
  void wake_rested();
  void start_seekers();
  void seek();
  void attach(const FeedPtr& feed);
  void forget_source(Feed& feed);
  void leave(Feed& feed);
  void remove(Feed& feed);

  FeedSource& source_;
  rpc::Tracer* tracer_ = nullptr;
  // Shared with the feeds, which may outlive this.
  const std::shared_ptr<std::size_t> subscription_count_ = std::make_shared<std::size_t>(0);
  std::map<Key, FeedPtr> feeds_;
  std::unordered_map<std::uint64_t, FeedPtr> by_number_;
  std::deque<FeedPtr> queue_;
  std::multimap<TimePoint, FeedPtr> resting_;
  coroutine::MemberTimer<&Feeds::wake_rested> rested_{*this};  // When the next feed has rested.
  std::uint64_t last_number_ = 0;
  std::size_t seeker_count_ = 0;
  std::uint64_t past_behind_count_ = 0;  // From removed feeds.
  bool is_stopped_ = false;
  coroutine::TaskGroup seekers_;
};

}  // namespace corolane::framework::detail
