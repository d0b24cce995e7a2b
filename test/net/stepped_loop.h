// SPDX-License-Identifier: MIT
// Runs a test on a real event loop, with real sockets, but with a clock that moves only while the
// test lets time pass. So a slow peer is as slow as the test says, on any machine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/event_source.h"
#include "coroutine/scheduler.h"
#include "coroutine/task.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"
#include "test/net/raw_socket.h"

namespace corolane::net {

class SteppedLoop final : public coroutine::EventSource {
 public:
  explicit SteppedLoop(EventLoop& loop) : loop_(loop), now_(loop.now()), end_(now_) {}

  // Lets time pass: timers fire in order, each at its own time. Suspends.
  void pass(Duration duration) {
    allow(duration);
    ASSERT_TRUE(coroutine::sleep_until(Deadline::at(end_)));
  }
  // The same, while the test waits for something else.
  void allow(Duration duration) { end_ = now_ + duration; }

  TimePoint now() const override { return now_; }
  bool wait(Deadline deadline) override {
    if (deadline.time() > now_ && deadline.time() <= end_) {
      loop_.wait(Deadline::passed());
      now_ = deadline.time();
    } else {
      // Only sockets can end this wait. The loop measures it by the machine's clock.
      const Deadline look = Deadline::at(loop_.now() + std::chrono::milliseconds(1));
      loop_.wait(deadline == Deadline::passed() ? deadline : look);
    }
    return true;
  }
  void run_ended() override { loop_.run_ended(); }
  void wake() override { loop_.wake(); }

 private:
  EventLoop& loop_;
  TimePoint now_;
  TimePoint end_;
};

inline void run_on_stepped_loop(
    std::move_only_function<void(SteppedLoop& time, UvNetwork& network)> body) {
  EventLoop loop;
  UvNetwork network(loop);
  SteppedLoop time(loop);
  coroutine::Scheduler scheduler(time);
  const auto ran = scheduler.run("test on a stepped loop", [&] { body(time, network); });
  EXPECT_TRUE(ran) << ran;
}

// Makes the peer read `count` bytes, as soon as they are there. Suspends, and takes no time.
inline void read_bytes(RawSocket& peer, std::size_t count) {
  while (count > 0) {
    const std::size_t taken = peer.receive(std::min<std::size_t>(count, 64 * 1024));
    count -= taken;
    if (taken == 0) {
      ASSERT_TRUE(coroutine::yield());
    }
  }
}

}  // namespace corolane::net
