// Stands between clients and a server, and does to their bytes what networks do.
//
//   ChaosProxy proxy(network, {.target = {"server", 1}, .seed = seed, .plan = plan});
//   const auto endpoint = proxy.listen({"proxy", 2});  // Clients connect to this.
//   ...
//   proxy.inject(ChaosFault::reset);  // Besides what the plan does.
//   ...
//   proxy.heal();
//   EXPECT_GT(proxy.trace().count(ChaosEvent::Kind::reset), 0);
//
// What arrives of a direction is a beginning of what was sent, unharmed and in order: TCP promises
// that much. Among connections there is no order. The fate of a connection follows from the seed
// and its number alone; so in virtual time the same seed gives the same trace.
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
    // Breaks a connection such that its peer sees no orderly end. Closing it is all that every
    // network can do; of the simulated one, reset() is meant.
    std::function<void(net::Stream&)> break_off = [](net::Stream& stream) { stream.close(); };
    // Several thousand calls; a trace that nobody could read to its end need not be kept.
    std::size_t trace_event_count_max = 100'000;
  };

  // `network` outlives the proxy.
  ChaosProxy(net::Network& network, Options options);
  // Closes all connections and suspends until its tasks have ended.
  ~ChaosProxy();
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;

  // Once. Fails as Network::listen() does.
  Result<net::Endpoint> listen(const net::Endpoint& endpoint);

  // Connections are numbered from 1 in the order in which they come; these are open now.
  std::vector<std::uint64_t> connections() const;
  // To every open connection, in both directions, now.
  void inject(ChaosFault fault);
  // To one open connection, once `byte_count` more bytes of a direction have passed; instead of
  // what the plan had in store for that direction.
  void inject_after(std::uint64_t connection, ChaosDirection direction, ChaosFault fault,
                    std::uint64_t byte_count);
  // Ends every hang: what waited goes on its way.
  void resume();
  // From now on, until listen_again(), nobody can connect.
  void stop_listening();
  Result<void> listen_again();

  // For new connections; open ones keep theirs.
  void set_plan(const ChaosPlan& plan);
  // The network is well again: no fault for what comes, hanging connections go on, those that
  // lost bytes are broken off, and one can connect.
  Result<void> heal();

  const ChaosTrace& trace() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::test
