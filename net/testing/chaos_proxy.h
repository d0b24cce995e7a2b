// SPDX-License-Identifier: MIT
// Sits between clients and a server, and does to their bytes what networks do.
//
//   ChaosProxy proxy(network, {.target = {"server", 1}, .seed = seed, .plan = plan});
//   const auto endpoint = proxy.listen({"proxy", 2});  // Clients connect to this.
//   ...
//   proxy.inject(ChaosFault::reset);  // In addition to the plan.
//   ...
//   proxy.heal();
//   EXPECT_GT(proxy.trace().count(ChaosEvent::Kind::reset), 0);
//
// A receiver gets a prefix of the bytes that were sent, intact and in order: TCP promises that
// much. There is no order across connections. The fate of a connection follows from the seed and
// its number alone, so in virtual time the same seed gives the same trace.
//
// Works over any net::Network, and belongs to its scheduler's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "coroutine/base/result.h"
#include "net/network.h"
#include "net/testing/chaos_plan.h"
#include "net/testing/chaos_trace.h"

namespace corolane::test {

class ChaosProxy {
 public:
  struct Options {
    net::Endpoint target;
    std::uint64_t seed = 0;
    ChaosPlan plan = {};
    // Breaks a connection such that its peer sees no orderly end. Not every network can do more
    // than close it; for the simulated one, pass its reset().
    std::function<void(net::Stream&)> break_off = [](net::Stream& stream) { stream.close(); };
    // The trace keeps at most this many events.
    std::size_t trace_event_count_max = 100'000;
  };

  // `network` outlives the proxy.
  ChaosProxy(net::Network& network, Options options);
  // Closes all connections and suspends until its tasks have ended.
  ~ChaosProxy();
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;

  // May be called once. Fails as Network::listen() does.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);

  // The open connections. They are numbered from 1 in the order in which they arrive.
  std::vector<std::uint64_t> connections() const;
  // Strikes every open connection now, in both directions.
  void inject(ChaosFault fault);
  // Strikes one open connection once `byte_count` more bytes of a direction have passed. Replaces
  // the fault that the plan had drawn for that direction.
  void inject_after(std::uint64_t connection, ChaosDirection direction, ChaosFault fault,
                    std::uint64_t byte_count);
  // Ends every hang: delayed bytes are delivered.
  void resume();
  // Refuses new connections until listen_again().
  void stop_listening();
  Result<void> listen_again();

  // Applies to new connections; open ones keep their plan.
  void set_plan(const ChaosPlan& plan);
  // Restores the network: no more faults, hanging connections resume, connections that lost bytes
  // are broken off, and clients can connect.
  Result<void> heal();

  const ChaosTrace& trace() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::test
