// SPDX-License-Identifier: MIT
// A network inside one process and one thread, in virtual time: every delay is exact, and a test
// injects the faults.
//
//   sim::SimulatedNetwork network({.latency = 3ms});
//   rpc::Server server(network);
//   auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
//   network.reset_all();  // As if the peers had died.
//
// Host names resolve to themselves unless set_addresses() changes that. A listener is found by its
// port alone, a UDP socket by its address and port.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/detail/buffer_pool.h"
#include "net/network.h"
#include "net/parting_streams.h"

namespace corolane::sim {

class SimulatedStream;
class SimulatedListener;
class SimulatedUdpSocket;

class SimulatedNetwork : public net::Network {
 public:
  struct Options {
    Duration latency = std::chrono::milliseconds(1);  // One way, for each piece of bytes.
    // The largest piece that arrives at once: 1 splits every frame at every byte.
    std::size_t piece_bytes_max = 64 * 1024;
  };

  // The behaviour of a host towards peers that connect or send datagrams to it.
  struct Host {
    std::optional<Duration> latency = {};  // Each way; empty: that of the network.
    bool refuses = false;                  // It refuses connections.
    bool is_silent = false;                // It drops everything without notice.
  };

  SimulatedNetwork() : SimulatedNetwork(Options{}) {}
  explicit SimulatedNetwork(Options options) : options_(options) {}
  // Every listener and stream must be destroyed before, except parting streams.
  ~SimulatedNetwork() override;

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options = {}) override;
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options = {}) override;
  Result<std::unique_ptr<net::UdpSocket>> bind_udp(const net::Endpoint& endpoint,
                                                   net::UdpOptions options = {}) override;
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline deadline) override;

  // Sets the addresses that resolve() finds for a name from now on.
  void set_addresses(const std::string& name, std::vector<std::string> addresses) {
    addresses_[name] = std::move(addresses);
  }
  // Applies to new connections; existing ones keep their behaviour.
  void set_host(const std::string& address, Host host) { hosts_[address] = host; }
  // Sets the address of later clients, as their peers see it.
  void set_client_address(std::string address) { client_address_ = std::move(address); }
  // The number of connection attempts.
  std::size_t connect_count() const { return connect_count_; }

  // Applies to new connections; existing ones keep their latency.
  void set_latency(Duration latency) { options_.latency = latency; }
  // Breaks every connection at both ends at once; bytes in flight are lost.
  void reset_all();
  // Breaks a connection as if the process at this end had died. Bytes in flight to this end are
  // lost; the other end learns of it after the bytes in flight to it.
  void reset(net::Stream& stream);
  // Drops everything from now on, without notice.
  void go_silent() { silent_ = true; }

 private:
  friend class SimulatedStream;
  friend class SimulatedListener;
  friend class SimulatedUdpSocket;

  Host host_at(const std::string& address) const;
  void deliver(const net::Endpoint& from, const net::Endpoint& to,
               std::span<const std::byte> bytes);

  Options options_;
  net::detail::BufferPool buffers_;
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
