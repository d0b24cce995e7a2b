// What an object follows of what others publish: ObjectBase::follow().
#pragma once

#include <memory>
#include <utility>

namespace corolane::framework {
namespace detail {
class Follower;
}

// Ends it when it is destroyed, which the handler may do as well. Move-only; of the object's shard.
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

  // The handler is not called any more: the one that runs is the last. Never suspends.
  void stop();

 private:
  std::shared_ptr<detail::Follower> follower_;
};

}  // namespace corolane::framework
