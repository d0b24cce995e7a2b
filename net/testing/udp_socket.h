// SPDX-License-Identifier: MIT
// A UDP socket of the simulated network: datagrams that arrive after a delay, in order, exactly
// once.
//
//   sim::SimulatedNetwork network({.latency = 3ms});
//   auto server = network.bind_udp({"server", 1});
//   auto client = network.bind_udp({"client", 0});
//
// Datagrams leave at once, so sending is never refused. Arriving datagrams are kept up to
// UdpOptions::receive_buffer_bytes and lost beyond, as in a kernel.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/timer_wheel.h"
#include "net/testing/network.h"
#include "net/udp.h"

namespace corolane::sim {

class SimulatedUdpSocket final : public net::UdpSocket, private coroutine::Timer {
 public:
  static Result<std::unique_ptr<net::UdpSocket>> bind(SimulatedNetwork& network,
                                                      const net::Endpoint& endpoint,
                                                      const net::UdpOptions& options);
  SimulatedUdpSocket(SimulatedNetwork& network, net::Endpoint local, net::UdpOptions options);
  ~SimulatedUdpSocket() override { close(); }

  Result<std::span<const net::Datagram>> receive(Deadline deadline) override;
  void set_sink(net::DatagramSink& sink) override;
  Result<void> try_send(const net::UdpPeer& peer, std::span<const std::byte> bytes) override;
  Result<void> send(const net::UdpPeer& peer, std::span<const std::byte> bytes,
                    Deadline deadline) override;
  void close() override;
  const net::Endpoint& local_endpoint() const override { return local_; }
  const Statistics& statistics() const override { return statistics_; }

  // Delivers `bytes` after `delay`.
  void arrive(const net::Endpoint& from, std::span<const std::byte> bytes, Duration delay);

 private:
  struct Arriving {
    net::UdpPeer peer;
    std::vector<std::byte> bytes;
    TimePoint due;
  };

  void arm(Deadline deadline);
  void deliver_due();
  // Takes the datagrams that are due as one batch; empty when there are none.
  std::span<const net::Datagram> take_batch();

  SimulatedNetwork& network_;
  const net::Endpoint local_;
  const net::UdpOptions options_;
  bool closed_ = false;
  net::DatagramSink* sink_ = nullptr;
  std::deque<Arriving> arriving_;  // Sorted by due time.
  std::size_t arriving_bytes_ = 0;
  std::vector<Arriving> batch_;
  std::vector<net::Datagram> datagrams_;  // Point into `batch_`.
  Statistics statistics_;
  coroutine::Event readable_{"datagrams"};
};

}  // namespace corolane::sim
