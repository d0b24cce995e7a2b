// SPDX-License-Identifier: MIT
#include "framework/objects/detail/follower.h"

#include <chrono>
#include <string>
#include <utility>

#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/following.h"
#include "framework/wire/detail/call_chain.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace detail {
namespace {

// The delay before the next attempt to get a turn, for example when the store is unavailable.
constexpr std::chrono::milliseconds refollow_interval(100);

}  // namespace

Follower::Follower(ObjectCell& cell)
    : cell_(cell), label_(std::string(cell.type().name()) + "/follow") {}

void Follower::run(Broadcast::Reader& reader, Handler& handler) {
  // The task must not inherit the deadline and the call chain of the handler that began it.
  rpc::CallScope::enter({});
  CallChain::enter(CallChain());
  // Runs also when the handler throws.
  struct End {
    explicit End(Follower& ending) : follower(ending) {}
    ~End() {
      follower.is_over_ = true;
      follower.task_ = {};
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

    Follower& follower;
  };
  const End end(*this);
  while (!is_over_) {
    const auto next = reader.next(Deadline::never());
    if (!run_in_turn([&] { handler(next); }) || !next) return;
  }
}

bool Follower::run_in_turn(const std::function<void()>& work) {
  do {
    if (is_over_ || coroutine::is_cancelled()) return false;
    const auto done = cell_.type().host().run_in_turn(cell_, label_, [&] {
      // The follower may have been stopped while it waited for the turn.
      if (is_over_) return;
      is_in_handler_ = true;
      work();
      is_in_handler_ = false;
    });
    if (done) return true;
  } while (coroutine::sleep_for(refollow_interval));
  return false;
}

void Follower::stop() {
  if (std::exchange(is_over_, true)) return;
  if (!is_in_handler_ && task_) task_.cancel();
}

}  // namespace detail

void Following::stop() {
  if (follower_ != nullptr) follower_->stop();
}

}  // namespace corolane::framework
