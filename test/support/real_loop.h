// Runs a test against the real world: an event loop, real time and loopback sockets.
//
//   TEST(ListenerTest, PortZeroGetsAFreeOne) {
//     run_on_real_loop([](RealLoop& real) {
//       auto listener = real.network.listen({"127.0.0.1", 0});
//       ...
//     });
//   }
//
// Afterwards nothing may be left of it. Such a test waits for what it expects, never for time to
// pass; what must not last for ever gets soon() as its deadline.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "net/uv/event_loop.h"
#include "net/uv/uv_network.h"

namespace corolane::test {

struct RealLoop {
  net::EventLoop& loop;
  net::UvNetwork& network;
  coroutine::Scheduler& scheduler;
};

// Far more than anything here takes, and less than the watchdog's patience.
inline Deadline soon() { return Deadline::after(std::chrono::seconds(20)); }

inline void run_on_real_loop(std::move_only_function<void(RealLoop&)> body) {
  net::EventLoop loop;
  net::UvNetwork network(loop);
  {
    coroutine::Scheduler scheduler(loop);
    RealLoop real{.loop = loop, .network = network, .scheduler = scheduler};
    const auto ran = scheduler.run("test on a real loop", [&] { body(real); });
    EXPECT_TRUE(ran) << ran;
    EXPECT_EQ(scheduler.stacks().statistics().in_use_count, 0u) << "stacks left behind";
    EXPECT_EQ(scheduler.timers().armed_count(), 0u) << "timers left behind";
  }
  EXPECT_EQ(loop.open_handle_count(), 0u) << "handles left behind";
}

}  // namespace corolane::test
