// SPDX-License-Identifier: MIT
// The network between the hosts of a simulation, with its latencies and faults.
//
//   Fabric fabric(simulation, {.latency_max = 2ms});
//   net::Network& network = fabric.network_of(server);
//   fabric.cut(server, client);  // The server's bytes wait, as behind an unplugged cable.
//
// Bytes of a connection arrive in order, after a delay that the seed decides; connections overtake
// each other. The host with the index N has the address 10.0.0.N and its own name; 127.0.0.1 is the
// local host.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/testing/random.h"
#include "framework/testing/simulation.h"
#include "net/network.h"

namespace corolane::sim {

class Host;
class HostNetwork;
class HostStream;

class Fabric {
 public:
  struct Options {
    Duration latency_min = std::chrono::microseconds(50);  // One way.
    Duration latency_max = std::chrono::milliseconds(1);
  };

  explicit Fabric(Simulation& simulation) : Fabric(simulation, Options{}) {}
  Fabric(Simulation& simulation, const Options& options);
  // Kills the connected hosts.
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Lives as long as the fabric.
  net::Network& network_of(Host& host);
  static std::string address_of(const Host& host);

  // Messages from `from` to `to` wait until each cut() is undone. Neither host is notified, and
  // nothing is lost.
  void cut(const Host& from, const Host& to);
  void mend(const Host& from, const Host& to);
  // Adds `delay` to the latency from now on.
  void set_delay(const Host& from, const Host& to, Duration delay);
  // Breaks one connection between the two, if there is one. Each end learns of it after its own
  // latency.
  void reset_one(const Host& a, const Host& b);
  // The connections between hosts that are open at either end.
  std::size_t connection_count() const;
  // Switches the machine off until the host is started. Unlike the machine of a killed process, it
  // does not close connections.
  void switch_off(const Host& host);

  // Carries a message outside of streams: runs `work` on `to` when it arrives there. `lane` keeps
  // the messages of one sender in order: it holds the arrival time of the last one.
  void carry(const Host& from, Host& to, const std::shared_ptr<TimePoint>& lane,
             std::move_only_function<void()> work);

 private:
  friend class HostNetwork;
  friend class HostStream;

  // Two ends, each on its host. Lives as long as one of its streams.
  struct Connection {
    struct End {
      Host* host = nullptr;
      std::uint64_t life = 0;        // The life of the host.
      HostStream* stream = nullptr;  // Null when it is closed, or not created yet.
      bool had_stream = false;
      // Messages that arrived before the stream was created.
      std::vector<std::move_only_function<void(HostStream*)>> early = {};
      TimePoint last_arrival{};         // The last message to this end.
      std::size_t under_way_bytes = 0;  // Sent by this end, not yet read.
      bool wants_room = false;          // Its writer waits until there are fewer.
    };
    std::array<End, 2> ends;  // The connecting end, then the accepting end.
  };
  struct Link {
    int cut_count = 0;
    Duration delay{};
    std::vector<std::move_only_function<void(TimePoint)>> parked;  // Messages behind a cut.
  };
  // Calls `go` with the arrival time, once the link is not cut.
  void leave(const Host& from, const Host& to, std::move_only_function<void(TimePoint)> go);
  Link& link(const Host& from, const Host& to);
  Duration latency(const Host& from, const Host& to);
  // Sends a message from one end of a connection to the end `to`.
  void send(const std::shared_ptr<Connection>& connection, std::size_t to,
            std::move_only_function<void(HostStream*)> work);
  void break_off(const std::shared_ptr<Connection>& connection, std::size_t side);
  void break_at(const std::shared_ptr<Connection>& connection, std::size_t side, TimePoint time);
  void died(const Host& host);
  void check_nothing_is_left(const Host& host) const;
  bool is_off(const Host& host) const;
  std::shared_ptr<Connection> connect(Host& near, Host& far);
  HostNetwork* find(const std::string& address) const;

  Simulation& simulation_;
  const Options options_;
  test::Random dice_;
  std::map<std::pair<std::size_t, std::size_t>, Link> links_;
  std::map<std::size_t, std::unique_ptr<HostNetwork>> networks_;  // By index of the host.
  std::map<std::size_t, std::uint64_t> switched_off_;  // By index, the life that ended so.
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace corolane::sim
