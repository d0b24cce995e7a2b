// SPDX-License-Identifier: MIT
#include "framework/objects/detail/follower.h"

#include <chrono>
#include <utility>

#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/objects/following.h"
#include "framework/push/detail/publication_traces.h"
#include "framework/wire/detail/call_chain.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace detail {
namespace {

// The delay before the next attempt to get a stack, or a turn, for example when the store is
// unavailable.
constexpr std::chrono::milliseconds refollow_interval(100);

}  // namespace

class Follower::Run {
 public:
  explicit Run(Follower& follower) : follower_(follower) {}
  ~Run() {
    follower_.is_running_ = false;
    if (!is_caught_up_ || follower_.is_over_) {
      follower_.is_over_ = true;
      follower_.release();
    } else {
      follower_.listen();
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void catch_up() { is_caught_up_ = true; }

 private:
  Follower& follower_;
  bool is_caught_up_ = false;
};

Follower::Again::Again(Follower& one)
    : Timer([](Timer& timer) { static_cast<Again&>(timer).follower.spawn(); }), follower(one) {}

Follower::Follower(ObjectCell& cell, Broadcast::Reader reader, Handler handler,
                   coroutine::TaskGroup& tasks)
    : cell_(cell),
      label_(std::string(cell.type().name()) + "/follow"),
      tasks_(tasks),
      reader_(std::move(reader)),
      handler_(std::move(handler)) {}

void Follower::listen() {
  reader_->when_readable([this] { spawn(); });
}

void Follower::spawn() {
  auto spawned = tasks_.spawn(label_, [self = shared_from_this()] { self->deliver(); });
  if (spawned) {
    is_running_ = true;
    task_ = *spawned;
  } else {
    coroutine::Scheduler::current().timers().arm(again_, Deadline::after(refollow_interval));
  }
}

void Follower::deliver() {
  Run run(*this);
  // The task must not inherit the deadline and the call chain of the handler that began it.
  rpc::CallScope::enter({});
  CallChain::enter(CallChain());
  while (!is_over_) {
    auto next = reader_->poll();
    if (next && !*next) return run.catch_up();
    const Result<Published> event =
        next ? Result<Published>(**std::move(next)) : Result<Published>(std::move(next.error()));
    if (!handle(event) || !event) return;
  }
}

bool Follower::handle(const Result<Published>& event) {
  const DeliveryTrace trace(event ? &*event : nullptr);
  if (!trace.is_sampled()) [[likely]]
    return run_in_turn([&] { handler_(event); });
  return run_in_turn([&] {
    rpc::Span span = trace.handle(cell_.tracer());
    span.attribute("messaging.system", "corolane");
    span.attribute("messaging.operation.name", "handle");
    span.attribute("messaging.operation.type", "process");
    span.attribute("messaging.destination.name",
                   reader_->source().type + "/" + reader_->source().id);
    span.attribute("corolane.object.type", cell_.type().name());
    span.attribute("corolane.object.id", cell_.id());
    handler_(event);
  });
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
  if (!is_running_) return release();
  if (!is_in_handler_) task_.cancel();
}

// What the handler owns may own this follower.
void Follower::release() {
  again_.cancel();
  const auto reader = std::exchange(reader_, std::nullopt);
  const auto handler = std::exchange(handler_, nullptr);
}

}  // namespace detail

void Following::stop() {
  if (follower_ != nullptr) follower_->stop();
}

}  // namespace corolane::framework
