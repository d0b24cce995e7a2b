// SPDX-License-Identifier: MIT
// The publications of the objects of one shard on their way to the shards of subscribers.
//
// Each object has one outlet for each feed (feed.h) that follows it. An outlet is no task: it
// becomes ready when its object publishes, sends one batch, and waits until the receiver has room
// for the next one. Meanwhile the publications stay in the topic, within its bounds.
//
//   outlets.add(address, topic.read());
//   ...
//   outlets.resume(address);  // The batch has arrived.
//
// All of it belongs to one shard's thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coroutine/member_timer.h"
#include "framework/push/detail/broadcast.h"

namespace corolane::framework::detail {

// The stream that carries all publications from one node to one shard of another node: named by the
// node and the shard that receive them, and a number that they never use again.
struct LineName {
  std::uint64_t node_epoch = 0;  // 0: there is no line.
  std::uint32_t shard = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const LineName&, const LineName&) = default;
};

// The way to a feed.
struct FeedAddress {
  std::size_t shard = 0;   // Of this process: where the feed is, or the line to its node.
  LineName line = {};      // None: the feed is on that shard.
  std::uint64_t feed = 0;  // Feed::number().

  friend auto operator<=>(const FeedAddress&, const FeedAddress&) = default;
};

class OutletPost {
 public:
  // Sends a batch to a feed, which is followed by Outlets::resume() or remove(), also within this
  // call; or, without a batch, the news that the object publishes here no more. Never suspends.
  virtual void send(const FeedAddress& to, std::optional<PublishedBatch> batch) = 0;

 protected:
  ~OutletPost() = default;
};

class Outlets {
 public:
  struct Statistics {
    std::size_t count = 0;
    // Publications that were serialised for other nodes, each once for all that follow its object.
    std::uint64_t serialised_count = 0;
  };

  // `post` outlives it.
  explicit Outlets(OutletPost& post) : post_(post) {}
  ~Outlets() { stop(); }
  Outlets(const Outlets&) = delete;
  Outlets& operator=(const Outlets&) = delete;

  // None of them suspends. An address that is not there is ignored.
  void add(const FeedAddress& address, Broadcast::Reader reader);
  void remove(const FeedAddress& address);
  // The feed has room for the next batch.
  void resume(const FeedAddress& address);
  // Removes all of them, and those that are added later.
  void stop();

  Statistics statistics() const {
    return {.count = outlets_.size(), .serialised_count = serialised_count_};
  }

 private:
  struct Outlet {
    FeedAddress address;
    Broadcast::Reader reader;
    bool is_sending = false;  // A batch is on its way.
    bool has_begun = false;   // One has been sent.
  };

  void wait(Outlet& outlet);
  void note(const Outlet& outlet);
  void send_ready();
  void send(const FeedAddress& address);

  OutletPost& post_;
  std::map<FeedAddress, Outlet> outlets_;
  std::vector<FeedAddress> ready_;
  std::vector<FeedAddress> sending_;  // Empty between two turns.
  coroutine::MemberTimer<&Outlets::send_ready> send_soon_{*this};
  bool is_stopped_ = false;
  std::uint64_t serialised_count_ = 0;
};

}  // namespace corolane::framework::detail
