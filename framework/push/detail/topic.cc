// SPDX-License-Identifier: MIT
#include "framework/push/detail/topic.h"

#include <algorithm>
#include <utility>

namespace corolane::framework::detail {
namespace {

// Larger than the bounds of a subscriber: a shard that is busy for a moment delays all its
// subscribers.
constexpr Broadcast::Bounds bounds = {.count_max = 1'024, .bytes_max = 1'024 * 1'024};

std::shared_ptr<Broadcast> broadcast_from(Position position) {
  auto broadcast = std::make_shared<Broadcast>(bounds);
  broadcast->begin(position, Gap::begin);
  return broadcast;
}

}  // namespace

Topic::Topic(Position position) : position_(position), broadcast_(broadcast_from(position)) {}

void Topic::publish(Broadcast::Message message, bool is_held, PublicationTrace trace) {
  const bool waits = is_held || has_held();
  ++position_.sequence;
  if (!waits) return broadcast_->append(std::move(message), std::move(trace));
  if (message == nullptr) return;
  held_bytes_ += message->ByteSizeLong();
  held_.push_back({.message = std::move(message), .trace = std::move(trace)});
  if (held_.size() <= bounds.count_max && held_bytes_ <= bounds.bytes_max) return;
  held_.clear();
  held_bytes_ = 0;
}

void Topic::release(Position end) {
  const std::uint64_t from = broadcast_->position().sequence;
  if (end != position_) {
    // Messages that were too many, or had no reader, leave a gap when all are released.
    const bool is_whole = position_.sequence == from + held_.size();
    if (!is_whole || end.sequence <= from) return;
    const auto count = static_cast<std::ptrdiff_t>(end.sequence - from);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      Held& held = held_[static_cast<std::size_t>(i)];
      held_bytes_ -= held.message->ByteSizeLong();
      append(std::move(held));
    }
    held_.erase(held_.begin(), held_.begin() + count);
    return;
  }
  if (position_.sequence == broadcast_->position().sequence + held_.size()) {
    for (Held& held : held_) append(std::move(held));
  } else {
    broadcast_->begin(position_, Gap::behind);
  }
  held_.clear();
  held_bytes_ = 0;
}

void Topic::take_back(Position position) {
  const std::uint64_t count = position_.sequence - position.sequence;
  const std::uint64_t held = position_.sequence - broadcast_->position().sequence;
  // Readers of publications that were too many, or had no reader, skip their numbers.
  if (held != held_.size() || count > held) return;
  proven_sequence_ = std::min(proven_sequence_, position.sequence);
  for (std::uint64_t i = 0; i < count; ++i) {
    held_bytes_ -= held_.back().message->ByteSizeLong();
    held_.pop_back();
  }
  position_ = position;
}

void Topic::end() {
  broadcast_->end(Error(Code::aborted, "the object no longer publishes here"));
  broadcast_ = broadcast_from(position_);
  held_.clear();
  held_bytes_ = 0;
}

}  // namespace corolane::framework::detail
