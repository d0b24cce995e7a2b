// SPDX-License-Identifier: MIT
#include "framework/push/detail/broadcast.h"

#include <utility>

#include "coroutine/base/check.h"

namespace corolane::framework::detail {
namespace {

// The limits of a batch: as much as a stream sends in one go without delaying others on its
// connection.
constexpr std::size_t batch_count_max = 256;
constexpr std::size_t batch_bytes_max = 32 * 1'024;

}  // namespace

void Broadcast::begin(Position position, Gap gap) {
  position_ = position;
  if (!std::exchange(has_begun_, true)) {
    readable_.pulse();
  } else {
    push({.published = {.position = position, .message = nullptr, .gap = gap}, .bytes = 0});
  }
}

void Broadcast::append(Message message) {
  ++position_.sequence;
  if (begun_count_ == 0) return;
  check(message != nullptr, "a publication with readers has a message");
  const std::size_t bytes = message->ByteSizeLong();
  push({.published = {.position = position_, .message = std::move(message)}, .bytes = bytes});
}

void Broadcast::push(Entry entry) {
  if (begun_count_ == 0) return;
  bytes_ += entry.bytes;
  entries_.push_back(std::move(entry));
  unread_count_ = begun_count_;
  while (entries_.size() > 1 &&
         (entries_.size() > bounds_.count_max || bytes_ > bounds_.bytes_max)) {
    pop_front();
  }
  readable_.pulse();
}

void Broadcast::pop_front() {
  bytes_ -= entries_.front().bytes;
  entries_.pop_front();
  ++first_index_;
}

void Broadcast::end(Error error) {
  ended_ = std::move(error);
  readable_.pulse();
}

std::optional<Published> Broadcast::take(Place& place) {
  auto taken = take_next(place);
  if (taken && taken->gap == Gap::behind) ++behind_count_;
  return taken;
}

std::optional<Published> Broadcast::take_next(Place& place) {
  if (!has_begun_) return std::nullopt;
  if (!place.has_begun) {
    place.has_begun = true;
    place.next = end_index();
    ++begun_count_;
    return Published{.position = position_, .message = nullptr, .gap = Gap::begin};
  }
  if (place.next == end_index()) return std::nullopt;
  if (place.next < first_index_) {
    // The remaining entries would be evicted before they are read, too.
    place.next = end_index();
    catch_up();
    return Published{.position = position_, .message = nullptr, .gap = Gap::behind};
  }
  Published taken = entries_[place.next - first_index_].published;
  ++place.next;
  if (place.next == end_index()) catch_up();
  return taken;
}

const Broadcast::Entry* Broadcast::peek(const Place& place) const {
  if (!place.has_begun || place.next < first_index_ || place.next == end_index()) return nullptr;
  const Entry& entry = entries_[place.next - first_index_];
  return entry.published.message == nullptr ? nullptr : &entry;
}

void Broadcast::catch_up() {
  if (--unread_count_ > 0) return;
  first_index_ = end_index();
  entries_.clear();
  bytes_ = 0;
}

void Broadcast::leave(std::list<Place>::iterator place) {
  if (place->has_begun) {
    --begun_count_;
    if (place->next != end_index()) catch_up();
  }
  readers_.erase(place);
  if (!readers_.empty() || on_abandoned_ == nullptr) return;
  std::exchange(on_abandoned_, nullptr)();
}

Result<Published> Broadcast::Reader::next(Deadline deadline) {
  for (;;) {
    if (auto taken = broadcast_->take(*place_)) return *std::move(taken);
    if (broadcast_->ended_) return *broadcast_->ended_;
    if (auto waited = broadcast_->readable_.wait(deadline); !waited) return waited.error();
  }
}

Result<PublishedBatch> Broadcast::Reader::next_batch(Deadline deadline) {
  auto first = next(deadline);
  if (!first) return first.error();
  PublishedBatch batch{.after = first->position, .messages = {}};
  if (first->message == nullptr) return batch;
  --batch.after.sequence;
  std::size_t bytes = first->message->ByteSizeLong();
  for (;;) {
    const Entry* const entry = broadcast_->peek(*place_);
    batch.messages.push_back(std::move(first->message));
    if (entry == nullptr || batch.messages.size() == batch_count_max) return batch;
    bytes += entry->bytes;
    if (bytes > batch_bytes_max) return batch;
    first = *broadcast_->take(*place_);
  }
}

}  // namespace corolane::framework::detail
