// SPDX-License-Identifier: MIT
#include "framework/routing/detail/outlet_lines.h"

#include <utility>

#include "framework/push/detail/publication_traces.h"
#include "framework/wire/push.pb.h"

namespace corolane::framework::detail {
namespace {

// A frame that has as much is full: what is more waits for the next one.
constexpr std::size_t frame_bytes_max = 32 * 1'024;

}  // namespace

Result<void> OutletLines::serve(const LineName& name, rpc::Writer<PublicationFrame>& out) {
  const auto line = std::make_shared<Line>();
  if (!lines_.emplace(name, line).second) {
    return Error(Code::already_exists, "that line of publications is open already");
  }
  auto written = write_all(name, *line, out);
  lines_.erase(name);
  for (const auto& [feed, shard] : line->shards) {
    answer(name, {.from = shard, .feed = feed}, /*wants_more=*/false);
  }
  return written;
}

void OutletLines::answer(const LineName& name, const Item& item, bool wants_more) {
  answer_(item.from, {.shard = shard_, .line = name, .feed = item.feed}, wants_more);
}

Result<void> OutletLines::write_all(const LineName& name, Line& line,
                                    rpc::Writer<PublicationFrame>& out) {
  PublicationFrame frame;
  std::vector<Item> written;  // Without their batches.
  for (;;) {
    if (auto sent = out.write(frame); !sent) return sent;
    for (const Item& item : std::exchange(written, {})) answer(name, item, /*wants_more=*/true);
    while (line.items.empty()) {
      if (auto waited = line.ready.wait(Deadline::never()); !waited) return waited;
    }
    frame.Clear();
    for (std::size_t bytes = 0; !line.items.empty() && bytes < frame_bytes_max;) {
      const Item item = std::move(line.items.front());
      line.items.pop_front();
      PublicationBatch& batch = *frame.add_batches();
      batch.set_feed(item.feed);
      batch.set_is_end(!item.batch);
      if (!item.batch) continue;
      batch.set_epoch(item.batch->after.epoch);
      batch.set_sequence(item.batch->after.sequence);
      for (const auto& message : item.batch->bytes) {
        batch.add_messages(*message);
        bytes += message->size();
      }
      add_traces(*item.batch, batch);
      written.push_back({.from = item.from, .feed = item.feed});
    }
  }
}

void OutletLines::send(std::size_t from, const FeedAddress& to,
                       std::optional<PublishedBatch> batch) {
  const auto found = lines_.find(to.line);
  if (found == lines_.end()) return answer_(from, to, /*wants_more=*/false);
  Line& line = *found->second;
  if (batch) {
    line.shards.insert_or_assign(to.feed, from);
  } else {
    line.shards.erase(to.feed);
  }
  line.items.push_back({.from = from, .feed = to.feed, .batch = std::move(batch)});
  line.ready.pulse();
}

void OutletLines::detach(const LineName& name, const std::vector<std::uint64_t>& feeds) {
  const auto found = lines_.find(name);
  if (found == lines_.end()) return;
  for (const std::uint64_t feed : feeds) {
    const auto shard = found->second->shards.find(feed);
    if (shard == found->second->shards.end()) continue;
    answer(name, {.from = shard->second, .feed = feed}, /*wants_more=*/false);
    found->second->shards.erase(shard);
  }
}

}  // namespace corolane::framework::detail
