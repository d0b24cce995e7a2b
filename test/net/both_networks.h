// SPDX-License-Identifier: MIT
// Runs a test over real sockets, over the simulated network, and inside of WebSockets on that: all
// keep the same promises, except that a WebSocket ends in both directions at once.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "coroutine/task.h"
#include "net/network.h"
#include "net/testing/network.h"
#include "net/websocket/websocket_network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {

using NetworkTest = std::function<void(Network&, const std::function<void()>& settle)>;

// `settle` suspends until everything sent has arrived.
inline void run_on_both(const NetworkTest& body) {
  using namespace std::chrono_literals;
  {
    SCOPED_TRACE("real");
    test::run_on_real_loop(
        [&](test::RealLoop& real) { body(real.network, [&] { see_arrivals(real.network); }); });
  }
  SCOPED_TRACE("simulated");
  sim::SimulatedNetwork network({.latency = 1ms, .piece_bytes_max = 64 * 1024});
  body(network, [] { EXPECT_TRUE(coroutine::sleep_for(10ms)); });
}

// The same, and inside of WebSockets.
inline void run_on_all(const NetworkTest& body) {
  using namespace std::chrono_literals;
  run_on_both(body);
  SCOPED_TRACE("inside of WebSockets");
  sim::SimulatedNetwork network({.latency = 1ms, .piece_bytes_max = 64 * 1024});
  WebSocketNetwork web(network);
  body(web, [] { EXPECT_TRUE(coroutine::sleep_for(10ms)); });
}

}  // namespace corolane::net
