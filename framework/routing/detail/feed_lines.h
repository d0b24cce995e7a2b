// SPDX-License-Identifier: MIT
// The lines of one shard to other nodes: all publications from a node come over one stream, which a
// task reads for all feeds that are attached to it.
//
//   auto line = lines.open(member.epoch, client, deadline);
//   if (!line) return line.error();
//   ... (*line) ...  // In the requests to attach feeds.
//
// The server's end is outlet_lines.h. All of it belongs to one shard's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/task_group.h"
#include "framework/push/detail/feeds.h"
#include "rpc/client/client.h"

namespace corolane::framework::detail {

class FeedLines {
 public:
  // `feeds` outlives it; `shard` is the index of theirs.
  FeedLines(Feeds& feeds, std::size_t shard) : feeds_(feeds), shard_(shard) {}
  ~FeedLines() { stop(); }
  FeedLines(const FeedLines&) = delete;
  FeedLines& operator=(const FeedLines&) = delete;

  // The line to the node with epoch `node`, for this node, which has `own_epoch`. Suspends until it
  // is open. Fails with the error that closed it, or deadline_exceeded or cancelled.
  Result<LineName> open(std::uint64_t node, std::uint64_t own_epoch,
                        const std::shared_ptr<rpc::Client>& client, Deadline deadline);
  bool is_open(const LineName& name) const { return find(name) != nullptr; }
  // Detaches a feed, soon. Never suspends.
  void detach(const LineName& name, std::uint64_t feed);
  // Closes all of them. Suspends.
  void stop() { tasks_.cancel_and_join(); }

  std::size_t count() const { return lines_.size(); }

 private:
  struct Line {
    LineName name;
    std::shared_ptr<rpc::Client> client;
    bool is_open = false;
    std::optional<Error> closed = {};
    coroutine::Event changed{"a line for publications"};
    std::vector<std::uint64_t> leaving = {};  // Feeds to be detached.
    bool is_detaching = false;                // A task does that.
  };
  using LinePtr = std::shared_ptr<Line>;

  LinePtr find(const LineName& name) const;
  Result<void> read(Line& line);
  void detach(const LinePtr& line, std::uint64_t feed);
  void detach_all(Line& line);

  Feeds& feeds_;
  const std::size_t shard_;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, LinePtr> lines_;  // By the epoch of the other node.
  coroutine::TaskGroup tasks_;
};

}  // namespace corolane::framework::detail
