// SPDX-License-Identifier: MIT
// All publications that arrive at one shard or leave it: the feeds of its subscribers, the outlets
// of its objects, and the lines from and to other nodes.
//
// Between shards of this process a batch and its acknowledgement are messages between threads, run
// on the loop's stack; the publications are immutable and therefore shared.
//
// All of it belongs to one shard's thread; other hubs reach it by messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coroutine/scheduler.h"
#include "framework/push/detail/feeds.h"
#include "framework/push/detail/outlet.h"
#include "framework/routing/detail/feed_lines.h"
#include "framework/routing/detail/outlet_lines.h"

namespace corolane::framework::detail {

class PushHub final : private OutletPost {
 public:
  // A hub of this process, which may have stopped.
  class Peer {
   public:
    Peer() = default;

    // Runs `work` on that hub's loop, soon. Dropped when the hub has stopped.
    void post(std::move_only_function<void(PushHub& hub)> work) const;

   private:
    friend class PushHub;

    coroutine::Scheduler* scheduler_ = nullptr;
    std::shared_ptr<PushHub*> hub_;  // Read on its thread only; refers to null once it has stopped.
  };

  // `source` outlives it. `shard` is the index of its shard.
  PushHub(FeedSource& source, std::size_t shard);
  ~PushHub() { stop(); }
  PushHub(const PushHub&) = delete;
  PushHub& operator=(const PushHub&) = delete;

  // For the hubs of other shards. Callable from any thread.
  Peer as_peer() const { return self_; }
  // All hubs of the node, by shard. Before this call it knows only itself.
  void set_peers(std::vector<Peer> peers) { peers_ = std::move(peers); }

  Feeds& feeds() { return feeds_; }
  const Feeds& feeds() const { return feeds_; }
  Outlets& outlets() { return outlets_; }
  const Outlets& outlets() const { return outlets_; }
  FeedLines& feed_lines() { return feed_lines_; }
  OutletLines& outlet_lines() { return outlet_lines_; }

  // FeedSource::detach(). Never suspends.
  void detach(const FeedPlace& place, std::uint64_t feed);
  // Ends all subscriptions, and later ones at once, with unavailable. Suspends.
  void end_subscriptions();
  // The same, and ends the outlets. The calls that write lines have ended.
  void stop();

 private:
  void send(const FeedAddress& to, std::optional<PublishedBatch> batch) override;
  // A batch of the shard `from` has arrived.
  void take(std::size_t from, const FeedAddress& to, std::optional<PublishedBatch> batch);
  void answer(std::size_t of, const FeedAddress& address, bool wants_more);

  const std::size_t shard_;
  Peer self_;
  std::vector<Peer> peers_;
  Feeds feeds_;
  Outlets outlets_{*this};
  FeedLines feed_lines_;
  OutletLines outlet_lines_;
};

}  // namespace corolane::framework::detail
