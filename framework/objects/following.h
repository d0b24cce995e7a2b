// SPDX-License-Identifier: MIT
// The handle of a subscription that an object follows: ObjectBase::follow().
//
//   auto following = follow(RoomClient(router(), "lobby").subscribe(),
//                           [this](const Result<Publication<RoomEvent>>& event) {
//                             if (event && !event->is_gap()) hear((*event)->text());
//                           });
//   if (!following) return following.error();
//   lobby_ = *std::move(following);
#pragma once

#include <memory>
#include <utility>

namespace corolane::framework {
namespace detail {
class Follower;
}

// Ends the subscription when it is destroyed, also from within the handler. Move-only; belongs to
// the object's shard.
class Following {
 public:
  Following() = default;
  explicit Following(std::shared_ptr<detail::Follower> follower) : follower_(std::move(follower)) {}
  ~Following() { stop(); }
  Following(Following&& other) noexcept = default;
  Following& operator=(Following&& other) noexcept {
    if (this == &other) return *this;
    stop();
    follower_ = std::move(other.follower_);
    return *this;
  }

  // Stops calling the handler; a run in progress is the last. Never suspends.
  void stop();

 private:
  std::shared_ptr<detail::Follower> follower_;
};

}  // namespace corolane::framework
