// The network between the hosts of a simulation: how long everything takes, and what breaks.
//
//   Fabric fabric(simulation, {.latency_max = 2ms});
//   net::Network& network = fabric.network_of(server);
//   fabric.cut(server, client);  // What the server sends waits, as behind a cable that is out.
//
// Bytes of a connection arrive in order, after a delay from the seed; connections overtake each
// other. The host with the index N has the address 10.0.0.N, and its name; 127.0.0.1 is itself.
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
  // Kills the hosts that are connected to it.
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Lives as long as the fabric.
  net::Network& network_of(Host& host);
  static std::string address_of(const Host& host);

  // Nothing of what the first sends arrives at the second, until as often mended as cut. Nobody is
  // told, and nothing is lost.
  void cut(const Host& from, const Host& to);
  void mend(const Host& from, const Host& to);
  // Everything takes so much longer from now on.
  void set_delay(const Host& from, const Host& to, Duration delay);
  // Breaks a connection of the two, if there is one: both learn of it, each in its time.
  void reset_one(const Host& a, const Host& b);
  // Its machine is off: unlike that of a process which was killed, it says so to nobody. Until the
  // host is started.
  void switch_off(const Host& host);

  // For what is no stream: runs `work` on `to` when a message of `from` has arrived there. `lane`
  // keeps those of one sender in order; it is the time at which the last of them arrived.
  void carry(const Host& from, Host& to, const std::shared_ptr<TimePoint>& lane,
             std::move_only_function<void()> work);

 private:
  friend class HostNetwork;
  friend class HostStream;

  // Two ends, each on its host; known to both as long as one of them is there.
  struct Connection {
    struct End {
      Host* host = nullptr;
      std::uint64_t life = 0;        // Of the host.
      HostStream* stream = nullptr;  // Null when it is closed, or not there yet.
      bool had_stream = false;
      // What has arrived before that.
      std::vector<std::move_only_function<void(HostStream*)>> early = {};
      TimePoint last_arrival{};         // Of what was sent to it.
      std::size_t under_way_bytes = 0;  // That it has sent and nobody has taken.
      bool wants_room = false;          // Wants to hear when that becomes less.
    };
    std::array<End, 2> ends;  // Who connected, and who accepted.
  };
  struct Link {
    int cut_count = 0;
    Duration delay{};
    std::vector<std::move_only_function<void(TimePoint)>> parked;  // What waits behind a cut.
  };
  // Runs with the time at which it arrives, as soon as the link lets it go.
  void leave(const Host& from, const Host& to, std::move_only_function<void(TimePoint)> go);
  Link& link(const Host& from, const Host& to);
  Duration latency(const Host& from, const Host& to);
  // A message of one end of a connection to the other one.
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
  std::map<std::size_t, std::uint64_t> switched_off_;             // And the life in which it was.
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace corolane::sim
