// A network inside one process and one thread, in virtual time: every delay is exact, and a test
// decides what breaks.
//
//   sim::SimulatedNetwork network({.latency = 3ms});
//   rpc::Server server(network);
//   auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
//   network.reset_all();  // As if the peers had died.
//
// Host names resolve to themselves unless the test says otherwise; a listener is found by its port
// alone, a UDP socket by its address and port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/network.h"
#include "net/parting_streams.h"

namespace corolane::sim {

class SimulatedStream;
class SimulatedListener;
class SimulatedUdpSocket;

class SimulatedNetwork : public net::Network {
 public:
  struct Options {
    Duration latency = std::chrono::milliseconds(1);  // Of each piece of bytes, one way.
    // Pieces arrive cut to at most so many bytes: 1 splits every frame at every byte.
    std::size_t piece_bytes_max = 64 * 1024;
  };

  // What a host does to those who connect or send datagrams to it.
  struct Host {
    std::optional<Duration> latency = {};  // To it and back from it; the network's otherwise.
    bool refuses = false;                  // Nobody listens there.
    bool is_silent = false;                // Nothing comes back, and nobody is told.
  };

  SimulatedNetwork() : SimulatedNetwork(Options{}) {}
  explicit SimulatedNetwork(Options options) : options_(options) {}
  // Every listener and stream is gone by then, but for those that were left to it.
  ~SimulatedNetwork() override;

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options = {}) override;
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options = {}) override;
  Result<std::unique_ptr<net::UdpSocket>> bind_udp(const net::Endpoint& endpoint,
                                                   net::UdpOptions options = {}) override;
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline deadline) override;

  // What resolve() finds for a name from now on, with the port that it is asked for.
  void set_addresses(const std::string& name, std::vector<std::string> addresses) {
    addresses_[name] = std::move(addresses);
  }
  // From now on; connections that exist keep what they have.
  void set_host(const std::string& address, Host host) { hosts_[address] = host; }
  // Where those come from who connect from now on, as their peers see it.
  void set_client_address(std::string address) { client_address_ = std::move(address); }
  // How often somebody began to connect.
  std::size_t connect_count() const { return connect_count_; }

  // Of the connections that are made from now on; the others keep theirs.
  void set_latency(Duration latency) { options_.latency = latency; }
  // Both ends of every connection learn at once that it broke; bytes under way are lost.
  void reset_all();
  // As if the process at this end of a connection had died: bytes on their way to it are lost, and
  // the other end learns of it behind those that are on their way there.
  void reset(net::Stream& stream);
  // From now on nothing arrives any more, and nobody is told.
  void go_silent() { silent_ = true; }

 private:
  friend class SimulatedStream;
  friend class SimulatedListener;
  friend class SimulatedUdpSocket;

  Host host_at(const std::string& address) const;
  void deliver(const net::Endpoint& from, const net::Endpoint& to,
               std::span<const std::byte> bytes);

  Options options_;
  bool silent_ = false;
  std::uint16_t last_port_ = 40'000;
  std::string client_address_ = "client";
  std::map<std::uint16_t, SimulatedListener*> listeners_;
  std::vector<SimulatedStream*> streams_;
  std::map<net::Endpoint, SimulatedUdpSocket*> udp_sockets_;
  std::map<std::string, std::vector<std::string>> addresses_;
  std::map<std::string, Host> hosts_;
  std::size_t connect_count_ = 0;
  std::optional<net::PartingStreams> parting_streams_{std::in_place};
};

}  // namespace corolane::sim
