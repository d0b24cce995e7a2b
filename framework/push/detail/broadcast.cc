// SPDX-License-Identifier: MIT
#include "framework/push/detail/broadcast.h"

#include <algorithm>
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
    wake();
  } else {
    push({.published = {.position = position, .message = nullptr, .gap = gap}, .bytes = 0});
  }
}

void Broadcast::append(Message message, PublicationTrace trace) {
  ++position_.sequence;
  if (begun_count_ == 0) return forget_all();
  check(message != nullptr, "a publication with readers has a message");
  const std::size_t bytes = message->ByteSizeLong();
  push({.published = {.position = position_,
                      .message = std::move(message),
                      .trace = std::move(trace)},
        .bytes = bytes});
}

bool Broadcast::Entry::serialise() {
  if (serialised != nullptr) return false;
  serialised = std::make_shared<const std::string>(published.message->SerializeAsString());
  return true;
}

void Broadcast::push(Entry entry) {
  if (begun_count_ == 0) return forget_all();
  bytes_ += entry.bytes;
  entries_.push_back(std::move(entry));
  unread_count_ = begun_count_;
  while (entries_.size() > 1 &&
         (entries_.size() > bounds_.count_max || bytes_ > bounds_.bytes_max)) {
    pop_front();
  }
  wake();
}

void Broadcast::wake() {
  readable_.pulse();
  while (!waiting_.empty()) {
    readers_.splice(readers_.end(), waiting_, waiting_.begin());
    std::exchange(readers_.back().note, nullptr)();
  }
}

void Broadcast::pop_front() {
  bytes_ -= entries_.front().bytes;
  entries_.pop_front();
  ++first_index_;
}

void Broadcast::end(Error error) {
  ended_ = std::move(error);
  wake();
}

bool Broadcast::is_readable(const Place& place) const {
  if (ended_) return true;
  return has_begun_ && (!place.has_begun || place.next != end_index());
}

bool Broadcast::take(Place& place, Published& taken) {
  if (!has_begun_) return false;
  if (!place.has_begun) {
    place.has_begun = true;
    place.next = end_index();
    ++begun_count_;
    taken = {.position = position_, .message = nullptr, .gap = Gap::begin};
    return true;
  }
  if (place.next == end_index()) return false;
  if (place.next < first_index_) {
    // The remaining entries would be evicted before they are read, too.
    place.next = end_index();
    catch_up();
    ++behind_count_;
    taken = {.position = position_, .message = nullptr, .gap = Gap::behind};
    return true;
  }
  taken = entries_[place.next - first_index_].published;
  if (taken.gap == Gap::behind) ++behind_count_;
  ++place.next;
  if (place.next == end_index()) catch_up();
  return true;
}

Broadcast::Entry* Broadcast::peek(const Place& place) {
  if (!place.has_begun || place.next < first_index_ || place.next == end_index()) return nullptr;
  Entry& entry = entries_[place.next - first_index_];
  return entry.published.message == nullptr ? nullptr : &entry;
}

void Broadcast::catch_up() {
  if (--unread_count_ > 0) return;
  while (entries_.size() > bounds_.kept_count || bytes_ > bounds_.kept_bytes) pop_front();
}

void Broadcast::forget_all() {
  first_index_ = end_index();
  entries_.clear();
  bytes_ = 0;
}

std::list<Broadcast::Place>::iterator Broadcast::enter(Position after) {
  if (tally_ != nullptr) ++*tally_;
  const auto place = readers_.insert(readers_.end(), Place{});
  if (after == Position()) return place;
  if (const auto index = index_behind(after)) {
    *place = {.next = *index, .has_begun = true};
    ++begun_count_;
    if (*index != end_index()) ++unread_count_;
  }
  return place;
}

std::optional<std::uint64_t> Broadcast::index_behind(Position position) const {
  if (!has_begun_) return std::nullopt;
  if (position == position_) return end_index();
  const auto next = std::ranges::find_if(
      entries_, [position](const Entry& entry) { return entry.published.position > position; });
  if (next == entries_.end()) return std::nullopt;
  const Published& published = next->published;
  const Position following{.epoch = position.epoch, .sequence = position.sequence + 1};
  // A gap says by itself that some are missing.
  if (published.message != nullptr && published.position != following) return std::nullopt;
  return first_index_ + static_cast<std::uint64_t>(next - entries_.begin());
}

void Broadcast::leave(std::list<Place>::iterator place) {
  if (tally_ != nullptr) --*tally_;
  if (place->has_begun) {
    --begun_count_;
    if (place->next != end_index()) catch_up();
  }
  (place->note == nullptr ? readers_ : waiting_).erase(place);
  if (reader_count() > 0 || on_abandoned_ == nullptr) return;
  std::exchange(on_abandoned_, nullptr)();
}

Result<Published> Broadcast::Reader::next(Deadline deadline) {
  Result<Published> taken = Published();  // Not moved on the way: thousands may read at once.
  while (!broadcast_->take(*place_, *taken)) {
    if (broadcast_->ended_) {
      taken = *broadcast_->ended_;
      break;
    }
    if (auto waited = broadcast_->readable_.wait(deadline); !waited) {
      taken = std::move(waited.error());
      break;
    }
  }
  return taken;
}

Result<std::optional<Published>> Broadcast::Reader::poll() {
  Published taken;
  if (broadcast_->take(*place_, taken)) return std::optional(std::move(taken));
  if (broadcast_->ended_) return *broadcast_->ended_;
  return std::optional<Published>();
}

Result<std::optional<Broadcast::Reader::Bytes>> Broadcast::Reader::poll_bytes() {
  std::shared_ptr<const std::string> bytes;
  if (Entry* const entry = broadcast_->peek(*place_)) {
    entry->serialise();
    bytes = entry->serialised;
  }
  auto taken = poll();
  if (!taken) return std::move(taken.error());
  if (!*taken) return std::optional<Bytes>();
  return std::optional(Bytes{.position = (*taken)->position, .bytes = std::move(bytes)});
}

Result<std::optional<PublishedBatch>> Broadcast::Reader::poll_batch(
    std::uint64_t* serialised_count) {
  PublishedBatch batch;
  std::size_t bytes = 0;
  while (Entry* const entry = broadcast_->peek(*place_)) {
    bytes += entry->bytes;
    const bool is_first = batch.messages.empty();
    if (!is_first && (bytes > batch_bytes_max || batch.messages.size() == batch_count_max)) break;
    if (is_first) {
      batch.after = entry->published.position;
      --batch.after.sequence;
    }
    if (serialised_count != nullptr) {
      if (entry->serialise()) ++*serialised_count;
      batch.bytes.push_back(entry->serialised);
    }
    Published taken;
    broadcast_->take(*place_, taken);
    if (taken.trace != nullptr) [[unlikely]] {
      batch.traces.push_back({.index = batch.messages.size(), .trace = std::move(taken.trace)});
    }
    batch.messages.push_back(std::move(taken.message));
  }
  if (!batch.messages.empty()) return std::optional(std::move(batch));
  auto gap = poll();
  if (!gap) return std::move(gap.error());
  if (!*gap) return std::optional<PublishedBatch>();
  batch.after = (*gap)->position;
  return std::optional(std::move(batch));
}

void Broadcast::Reader::when_readable(std::function<void()> note) {
  if (broadcast_->is_readable(*place_)) return note();
  if (place_->note == nullptr) {
    broadcast_->waiting_.splice(broadcast_->waiting_.end(), broadcast_->readers_, place_);
  }
  place_->note = std::move(note);
}

}  // namespace corolane::framework::detail
