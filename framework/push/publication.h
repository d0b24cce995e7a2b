// What an object publishes, as those get it who subscribe to it (subscription.h).
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <utility>

namespace google::protobuf {
class Message;
}

namespace corolane::framework {

// Where something stands in all that an object ever publishes: what comes later is greater.
struct Position {
  // Of the ownership under which the object lives: greater at each move of it.
  std::uint64_t epoch = 0;
  // One more with each publication; of an object that comes back to life it begins anywhere above
  // what it has published there before.
  std::uint64_t sequence = 0;

  friend auto operator<=>(const Position&, const Position&) = default;
};

// Why something may be missing before what comes next.
enum class Gap : std::uint8_t {
  none,
  begin,   // Nothing was subscribed to before.
  moved,   // The object began to live anew, here or elsewhere, or was out of reach for a while.
  behind,  // We fell behind by more than is kept for us; what waited was left out.
};

namespace detail {

// As Publication below, of whatever type.
struct Published {
  Position position;
  std::shared_ptr<const google::protobuf::Message> message;  // Null in a gap.
  Gap gap = Gap::none;
};

}  // namespace detail

// A message, or a gap: then what we know of the object may be old, and it is time to ask it for all
// of it. What comes next was published after position().
template <typename T>
class Publication {
 public:
  explicit Publication(detail::Published published) : published_(std::move(published)) {}

  bool is_gap() const { return published_.message == nullptr; }
  Gap gap() const { return published_.gap; }
  const Position& position() const { return published_.position; }

  // When it is no gap. All subscribers of a shard have the same one.
  const T& operator*() const { return static_cast<const T&>(*published_.message); }
  const T* operator->() const { return &**this; }

 private:
  detail::Published published_;
};

}  // namespace corolane::framework
