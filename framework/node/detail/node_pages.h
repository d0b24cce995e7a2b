// SPDX-License-Identifier: MIT
// The pages of the node for its shards, which serve them to other nodes. They are built on the
// thread of the node: a shard that hangs is a line there.
//
//   const auto page = pages.get("/objects/chess.Game/one?format=json&here=1", deadline);
#pragma once

#include <functional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"

namespace corolane::coroutine {
class Scheduler;
}

namespace corolane::framework::detail {

class NodePages {
 public:
  using Get = std::function<net::HttpResponse(const std::string& target)>;

  // `get` runs on the thread of `scheduler`; both outlive it.
  NodePages(coroutine::Scheduler& scheduler, Get get)
      : scheduler_(&scheduler), get_(std::move(get)) {}

  // Called on any shard. Suspends. Fails with invalid_argument unless the page is one of those that
  // are meant for other nodes, /objects/... and /cluster, and as coroutine::call_on().
  Result<net::HttpResponse> get(const std::string& target, Deadline deadline) const;

 private:
  coroutine::Scheduler* scheduler_;
  Get get_;
};

}  // namespace corolane::framework::detail
