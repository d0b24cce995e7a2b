// SPDX-License-Identifier: MIT
#include "framework/routing/detail/feed_lines.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "framework/routing/detail/line_name.h"
#include "framework/wire/detail/call_chain.h"
#include "framework/wire/push.corolane.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {
namespace {

constexpr std::chrono::milliseconds detach_retry_interval(250);

}  // namespace

Result<LineName> FeedLines::open(std::uint64_t node, std::uint64_t own_epoch,
                                 const std::shared_ptr<rpc::Client>& client, Deadline deadline) {
  LinePtr line = lines_[node];
  if (line == nullptr) {
    line = std::make_shared<Line>();
    line->name = {.node_epoch = own_epoch,
                  .shard = static_cast<std::uint32_t>(shard_),
                  .number = ++last_number_};
    line->client = client;
    lines_[node] = line;
    auto spawned = tasks_.spawn("line of publications", [this, node, line] {
      rpc::CallScope::enter({});
      CallChain::enter(CallChain());
      auto read = this->read(*line);
      line->closed = read ? Error(Code::unavailable,
                                  "the other node has closed the line of "
                                  "publications")
                          : std::move(read.error());
      lines_.erase(node);
      line->changed.pulse();
      feeds_.lose(line->name);
    });
    if (!spawned) {
      lines_.erase(node);
      return spawned.error();
    }
  }
  while (!line->is_open && !line->closed) {
    if (auto waited = line->changed.wait(deadline); !waited) return waited.error();
  }
  if (line->closed) return *line->closed;
  return line->name;
}

Result<void> FeedLines::read(Line& line) {
  auto frames =
      PushClient(*line.client).open(to_message(line.name), {.deadline = Deadline::never()});
  PublicationFrame frame;
  while (frames.read(frame)) {
    if (!std::exchange(line.is_open, true)) line.changed.pulse();
    for (const PublicationBatch& batch : frame.batches()) {
      if (batch.is_end()) {
        feeds_.end_source(batch.feed());
      } else if (!feeds_.receive(batch.feed(), batch)) {
        detach(line.name, batch.feed());
      }
    }
  }
  return frames.finish();
}

FeedLines::LinePtr FeedLines::find(const LineName& name) const {
  const auto found =
      std::ranges::find_if(lines_, [&](const auto& entry) { return entry.second->name == name; });
  return found == lines_.end() ? nullptr : found->second;
}

void FeedLines::detach(const LineName& name, std::uint64_t feed) {
  const LinePtr line = find(name);
  if (line == nullptr) return;
  line->leaving.push_back(feed);
  if (line->is_detaching) return;
  // Without a stack, the next publication for one of them tries again.
  line->is_detaching =
      tasks_.spawn("detach from publications", [this, line] { detach_all(*line); }).has_value();
}

void FeedLines::detach_all(Line& line) {
  rpc::CallScope::enter({});
  CallChain::enter(CallChain());
  while (!line.leaving.empty() && !line.closed) {
    const auto feeds = std::exchange(line.leaving, {});
    DetachRequest request;
    *request.mutable_line() = to_message(line.name);
    request.mutable_feeds()->Add(feeds.begin(), feeds.end());
    if (PushClient(*line.client).detach(request)) continue;
    line.leaving.insert(line.leaving.end(), feeds.begin(), feeds.end());
    if (!coroutine::sleep_for(detach_retry_interval)) break;
  }
  line.is_detaching = false;
}

}  // namespace corolane::framework::detail
