// SPDX-License-Identifier: MIT
// Delivers the publications that an object follows, each in a turn of the object: one Follower per
// Following. It has a task only while there is something to deliver.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "coroutine/timer_wheel.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

class ObjectCell;

class Follower : public std::enable_shared_from_this<Follower> {
 public:
  // Called once per publication; an error is the last.
  using Handler = std::move_only_function<void(const Result<Published>& next)>;

  // For an active object, which stops the follower when it is deactivated or dropped. Its tasks
  // belong to `tasks`, which outlives it.
  Follower(ObjectCell& cell, Broadcast::Reader reader, Handler handler,
           coroutine::TaskGroup& tasks);
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // Begins. Never suspends.
  void listen();
  // Never suspends. A running handler is not cancelled, but it is the last.
  void stop();
  bool is_over() const { return is_over_; }
  // The task that runs the handler, or waits for a turn to do so; 0: none.
  coroutine::TaskId task() const { return is_running_ ? task_.id() : 0; }
  // The object that is followed; null once it is over.
  const Broadcast::Source* source() const { return reader_ ? &reader_->source() : nullptr; }

 private:
  // Fires when there may be a stack again.
  struct Again : coroutine::Timer {
    explicit Again(Follower& follower);

    Follower& follower;
  };
  // The end of a task, also after an exception.
  class Run;

  void spawn();
  void deliver();
  // Calls the handler. Returns false as run_in_turn().
  bool handle(const Result<Published>& event);
  // Returns false when stopped or cancelled before it got a turn.
  bool run_in_turn(const std::function<void()>& work);
  // Drops what belongs to the subscription.
  void release();

  ObjectCell& cell_;         // May be gone once it is over.
  const std::string label_;  // "package.Room/follow".
  coroutine::TaskGroup& tasks_;
  std::optional<Broadcast::Reader> reader_;
  Handler handler_;
  coroutine::TaskRef task_;  // Valid while is_running_.
  Again again_{*this};
  bool is_running_ = false;
  bool is_over_ = false;
  bool is_in_handler_ = false;
};

}  // namespace corolane::framework::detail
