// SPDX-License-Identifier: MIT
// The publications of an object, as subscribers receive them (subscription.h).
//
//   auto event = events.next(deadline);
//   if (!event) return event.error();
//   if (event->is_gap()) {
//     draw_anew();
//   } else {
//     append((*event)->text());
//   }
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

namespace google::protobuf {
class Message;
}

namespace corolane::rpc {
struct TraceContext;
}

namespace corolane::framework {

// The position of a publication among all that an object ever publishes: later ones are greater.
struct Position {
  // The epoch of the ownership under which the object is active: greater after each move.
  std::uint64_t epoch = 0;
  // One more with each publication. When an object is activated again, it starts at any value above
  // its earlier ones in that epoch.
  std::uint64_t sequence = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// The reason why publications may be missing before the next one.
enum class Gap : std::uint8_t {
  none,
  begin,   // The subscription has just begun.
  moved,   // The object was activated anew, here or elsewhere, or was unreachable for a while.
  behind,  // We fell behind by more than is kept for us; the backlog was dropped.
};

namespace detail {

// The untyped form of Publication below.
struct Published {
  Position position;
  std::shared_ptr<const google::protobuf::Message> message;  // Null in a gap.
  Gap gap = Gap::none;
  // The span that has published it; null when its trace is not sampled.
  std::shared_ptr<const rpc::TraceContext> trace = nullptr;
};

}  // namespace detail

// A message, or a gap: after a gap our picture of the object may be stale, and it is time to ask
// the object for all of it. The next publication is later than position().
template <typename T>
class Publication {
 public:
  explicit Publication(detail::Published published) : published_(std::move(published)) {}

  bool is_gap() const { return published_.message == nullptr; }
  Gap gap() const { return published_.gap; }
  const Position& position() const { return published_.position; }

  // Valid when it is not a gap. All subscribers of a shard share one message.
  const T& operator*() const { return static_cast<const T&>(*published_.message); }
  const T* operator->() const { return &**this; }

 private:
  detail::Published published_;
};

}  // namespace corolane::framework
