// SPDX-License-Identifier: MIT
// Runs a test over real sockets, and over the simulated network: both keep the same promises.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "coroutine/task.h"
#include "net/network.h"
#include "net/testing/network.h"
#include "test/fixtures/real_loop.h"
#include "test/net/stream_pair.h"

namespace corolane::net {

// `settle` suspends until everything sent has arrived.
inline void run_on_both(
    const std::function<void(Network&, const std::function<void()>& settle)>& body) {
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

}  // namespace corolane::net
