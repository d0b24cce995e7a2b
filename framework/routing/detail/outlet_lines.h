// SPDX-License-Identifier: MIT
// The lines that shards of other nodes have opened to this shard: each is a stream of publications,
// written by the task of its call. Objects of all shards of the node use it.
//
// The client's end is feed_lines.h. All of it belongs to one shard's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "framework/push/detail/outlet.h"
#include "rpc/stream.h"

namespace corolane::framework {
class PublicationFrame;
}

namespace corolane::framework::detail {

class OutletLines {
 public:
  // Tells the outlet of that address, on the shard `of`, whether its feed wants more. Never
  // suspends.
  using Answer = std::function<void(std::size_t of, const FeedAddress& address, bool wants_more)>;

  // `shard` is the index of its shard.
  OutletLines(std::size_t shard, Answer answer) : shard_(shard), answer_(std::move(answer)) {}
  OutletLines(const OutletLines&) = delete;
  OutletLines& operator=(const OutletLines&) = delete;

  // Writes what is sent to a line, until the call of the calling task is cancelled. Suspends. Fails
  // with already_exists, or as Writer::write().
  Result<void> serve(const LineName& name, rpc::Writer<PublicationFrame>& out);
  // OutletPost::send(), by an outlet of the shard `from`.
  void send(std::size_t from, const FeedAddress& to, std::optional<PublishedBatch> batch);
  // The other end wants no more of these feeds.
  void detach(const LineName& name, const std::vector<std::uint64_t>& feeds);

  std::size_t count() const { return lines_.size(); }

 private:
  struct Item {
    std::size_t from;  // The shard of the outlet.
    std::uint64_t feed;
    std::optional<PublishedBatch> batch = {};  // Nothing: the end.
  };
  struct Line {
    std::deque<Item> items = {};  // At most one for each outlet, and its end.
    coroutine::Event ready{"publications for another node"};
    std::unordered_map<std::uint64_t, std::size_t> shards = {};  // Of the outlets, by feed.
  };

  Result<void> write_all(const LineName& name, Line& line, rpc::Writer<PublicationFrame>& out);

  void answer(const LineName& name, const Item& item, bool wants_more);

  const std::size_t shard_;
  const Answer answer_;
  std::map<LineName, std::shared_ptr<Line>> lines_;
};

}  // namespace corolane::framework::detail
