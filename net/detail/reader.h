// SPDX-License-Identifier: MIT
// The one reader of a source that hands out values as they come: a task that waits for the next
// one, or a sink that is called with each of them.
//
// It knows who reads and whether reading has ended; its owner knows where the values come from, and
// keeps those that come ahead of the reader.
#pragma once

#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/wait_queue.h"
#include "net/detail/call_count.h"

namespace corolane::net::detail {

// `Sink` has on_end(const Error&). A `Place` lies on the stack of the task that waits, and is
// filled before the task is woken.
template <typename Sink, typename Place>
class Reader {
 public:
  // `waited_for` is what introspection shows.
  explicit Reader(const char* waited_for) : task_(waited_for) {}

  bool has_sink() const { return sink_ != nullptr; }
  bool has_task() const { return !task_.empty(); }
  bool is_paused() const { return paused_; }
  // No more values will come: those that are kept are the last.
  bool has_ended() const { return ended_; }

  // Linear reading. Suspends until the owner wakes the task, or reading ends.
  void check_free() const {
    check(sink_ == nullptr, "a source with a sink has no other reader");
    check(task_.empty(), "a source has one reader at a time");
  }
  Result<void> wait(Place& place, Deadline deadline) {
    const CallCount::Inside inside(calls_);
    return task_.wait_or_fail(deadline, &place);
  }

  // Push reading. Returns false when the source was closed: the sink is not called then.
  bool set_sink(Sink& sink) {
    check(task_.empty(), "no task reads from a source that is given a sink");
    if (!closed_) sink_ = &sink;
    return !closed_;
  }
  void pause() { paused_ = true; }
  // Returns whether reading was paused.
  bool resume() { return std::exchange(paused_, false); }

  // There must be a task, or a sink.
  Place& place() { return *static_cast<Place*>(task_.front_slot()); }
  void wake_task() { task_.notify_one(); }
  Sink& sink() { return *sink_; }

  void end() {
    ended_ = true;
    task_.notify_all();
  }
  // The sink's last call. The sink may destroy the source in it.
  void tell_end(const Error& reason) { std::exchange(sink_, nullptr)->on_end(reason); }
  void drop_sink() { sink_ = nullptr; }
  // The sink is not called any more.
  void close() {
    closed_ = true;
    sink_ = nullptr;
    end();
  }

 private:
  Sink* sink_ = nullptr;
  bool paused_ = false;
  bool ended_ = false;
  bool closed_ = false;
  coroutine::WaitQueue task_;  // Its slot is a Place.
  CallCount calls_;
};

}  // namespace corolane::net::detail
