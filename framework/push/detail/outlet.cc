// SPDX-License-Identifier: MIT
#include "framework/push/detail/outlet.h"

#include <utility>

namespace corolane::framework::detail {

void Outlets::add(const FeedAddress& address, Broadcast::Reader reader) {
  if (is_stopped_) return;
  const auto added =
      outlets_.insert_or_assign(address, Outlet{.address = address, .reader = std::move(reader)})
          .first;
  note(added->second);
}

void Outlets::remove(const FeedAddress& address) { outlets_.erase(address); }

void Outlets::resume(const FeedAddress& address) {
  const auto found = outlets_.find(address);
  if (found == outlets_.end()) return;
  found->second.is_sending = false;
  wait(found->second);
}

void Outlets::stop() {
  is_stopped_ = true;
  send_soon_.cancel();
  outlets_.clear();
}

void Outlets::wait(Outlet& outlet) {
  outlet.reader.when_readable([this, &outlet] { note(outlet); });
}

// Not sent at once: that would happen amid the publication, and a burst would be many batches.
void Outlets::note(const Outlet& outlet) {
  ready_.push_back(outlet.address);
  if (send_soon_.is_armed()) return;
  send_soon_.arm(Deadline::passed());
}

// Those that become ready meanwhile wait for the next turn.
void Outlets::send_ready() {
  sending_.swap(ready_);
  for (const FeedAddress& address : sending_) send(address);
  sending_.clear();
}

void Outlets::send(const FeedAddress& address) {
  const auto found = outlets_.find(address);
  if (found == outlets_.end() || found->second.is_sending) return;
  const bool is_remote = address.line != LineName();
  auto batch = found->second.reader.poll_batch(is_remote ? &serialised_count_ : nullptr);
  if (!batch) {
    outlets_.erase(found);
    return post_.send(address, std::nullopt);
  }
  if (!*batch) {
    // An earlier outlet of that address has noted it, or its feed continues and has missed nothing.
    // That is told as well: the feed may have ended meanwhile.
    if (std::exchange(found->second.has_begun, true)) return wait(found->second);
    const auto position = found->second.reader.caught_up();
    if (!position) return wait(found->second);
    batch = PublishedBatch{.after = *position, .messages = {}};
  }
  found->second.has_begun = true;
  found->second.is_sending = true;
  post_.send(address, std::move(*batch));
}

}  // namespace corolane::framework::detail
