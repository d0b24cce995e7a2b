// Brings an object what it follows, in turns of its own: one task for each Following.
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
  // Called with one after the other; an error is the last.
  using Handler = std::move_only_function<void(const Result<Published>& next)>;

  // Of an active object, which stops it when it goes.
  explicit Follower(ObjectCell& cell);
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // "package.Room/follow".
  const std::string& label() const { return label_; }

  // In a task of its own, which bind() tells it. Suspends until it is over.
  void run(Broadcast::Reader& reader, Handler& handler);
  void bind(coroutine::TaskRef task) { task_ = task; }
  // Never suspends. A handler that runs is left in peace, but is the last.
  void stop();
  bool is_over() const { return is_over_; }

 private:
  // False when there is no turn to be had any more.
  bool run_in_turn(const std::function<void()>& work);

  ObjectCell& cell_;  // Gone when it is over.
  const std::string label_;
  coroutine::TaskRef task_;  // Until it is over.
  bool is_over_ = false;
  bool is_in_handler_ = false;
};

}  // namespace corolane::framework::detail
