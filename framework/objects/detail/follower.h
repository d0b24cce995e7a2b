// SPDX-License-Identifier: MIT
// Delivers the publications that an object follows, each in a turn of the object: one task per
// Following.
#pragma once

#include <functional>
#include <string>

#include "coroutine/base/result.h"
#include "coroutine/task.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"

namespace corolane::framework::detail {

class ObjectCell;

class Follower {
 public:
  // Called once per publication; an error is the last.
  using Handler = std::move_only_function<void(const Result<Published>& next)>;

  // For an active object, which stops the follower when it is deactivated or dropped.
  explicit Follower(ObjectCell& cell);
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // "package.Room/follow".
  const std::string& label() const { return label_; }

  // Runs in a task of its own, set by bind(). Suspends until it is over.
  void run(Broadcast::Reader& reader, Handler& handler);
  void bind(coroutine::TaskRef task) { task_ = task; }
  // Never suspends. A running handler is not cancelled, but it is the last.
  void stop();
  bool is_over() const { return is_over_; }

 private:
  // Returns false when stopped or cancelled before it got a turn.
  bool run_in_turn(const std::function<void()>& work);

  ObjectCell& cell_;  // May be gone once it is over.
  const std::string label_;
  coroutine::TaskRef task_;  // Valid until it is over.
  bool is_over_ = false;
  bool is_in_handler_ = false;
};

}  // namespace corolane::framework::detail
