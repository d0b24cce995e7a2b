// The outside world of a scheduler: a libuv loop as its EventSource.
//
//   net::EventLoop loop;
//   coroutine::Scheduler scheduler(loop);
//   net::UvNetwork network(loop);
//   scheduler.run("main", [&] { ... network.connect(...) ... });
//
// One timer of the loop stands for all timers of the scheduler's wheel. Before it waits, it sends
// the output of every stream that has some: once per turn, however many messages were written.
#pragma once

#include <cstddef>
#include <memory>

#include "coroutine/event_source.h"

namespace corolane::net {

class EventLoop : public coroutine::EventSource {
 public:
  EventLoop();
  // Every listener and stream is gone by then.
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  TimePoint now() const override;
  // Accuracy of a deadline: a millisecond, never early.
  bool wait(Deadline deadline) override;
  void wake() override;

  // Sockets, requests and signals that are open: for leak checks.
  std::size_t open_handle_count() const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
