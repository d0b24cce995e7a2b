// SPDX-License-Identifier: MIT
// A subscriber's copy of a room, with a check of its consistency.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/push/subscription.h"
#include "test/framework/room.h"

namespace corolane::test {

// Follows a room as a client would: fetches the whole state when messages may be missing, and adds
// each publication to it. `router` outlives it.
class RoomMirror {
 public:
  RoomMirror(framework::Router& router, const std::string& id)
      : room_(router, id), events_(room_.subscribe()) {}

  // Runs until the subscription ends, or the task is cancelled.
  Result<void> run() {
    for (;;) {
      if (auto followed = follow(Deadline::never()); !followed) return followed;
    }
  }
  Result<void> follow(Deadline deadline) {
    const auto event = events_.next(deadline);
    if (!event) return event.error();
    if (event->position() < last_ || (!event->is_gap() && event->position() == last_)) {
      failures.push_back("out of order");
    }
    if (!event->is_gap() && (event->position().epoch != last_.epoch ||
                             event->position().sequence != last_.sequence + 1)) {
      failures.push_back("a message is missing without a gap");
    }
    last_ = event->position();
    return event->is_gap() ? look(event->gap()) : add(**event);
  }

  std::uint64_t said_count = 0;
  std::uint64_t event_count = 0;
  std::uint64_t moved_count = 0;
  std::uint64_t behind_count = 0;
  std::vector<std::string> texts;
  std::vector<std::string> failures;

 private:
  Result<void> look(framework::Gap gap) {
    if (gap == framework::Gap::moved) ++moved_count;
    if (gap == framework::Gap::behind) ++behind_count;
    const auto picture = room_.look({}, {.deadline = Deadline::after(std::chrono::seconds(60))});
    if (!picture) return picture.error();
    said_count = picture->said_count();
    seen_ = {.epoch = picture->epoch(), .sequence = picture->sequence()};
    if (seen_ < last_) failures.push_back("the picture is older than what was published before");
    return {};
  }
  Result<void> add(const RoomEvent& event) {
    ++event_count;
    texts.push_back(event.text());
    if (last_ <= seen_) return {};  // The picture includes it.
    if (event.number() != said_count + 1) {
      failures.push_back("after " + std::to_string(said_count) + " came " +
                         std::to_string(event.number()));
    }
    said_count = event.number();
    return {};
  }

  RoomClient room_;
  framework::Subscription<RoomEvent> events_;
  framework::Position last_;
  framework::Position seen_;
};

}  // namespace corolane::test
