// SPDX-License-Identifier: MIT
// Connects a scheduler to the outside world: a libuv loop as its EventSource.
//
//   net::EventLoop loop;
//   coroutine::Scheduler scheduler(loop);
//   net::UvNetwork network(loop);
//   auto ran = scheduler.run("main", [&] { serve(network); });
//
// The nearest deadline of the scheduler ends its wait. Before the loop waits, it sends the output
// of every stream that has some: once per turn, however many messages were written.
//
// The first loop of a process makes it ignore SIGPIPE: writing to a broken connection returns an
// error instead.
#pragma once

#include <cstddef>
#include <memory>

#include "coroutine/event_source.h"

namespace corolane::net {

class EventLoop : public coroutine::EventSource {
 public:
  EventLoop();
  // All listeners and streams must be destroyed before it.
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  TimePoint now() const override;
  // A deadline is kept within about a millisecond, never early. Always true: another thread may
  // wake a loop that has nothing else to wait for.
  bool wait(Deadline deadline) override;
  void run_ended() override;
  void wake() override;

  // Listeners, streams and look-ups that still have an owner: for leak checks.
  std::size_t open_handle_count() const;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
