// A network inside one process and one thread, in virtual time: every delay is exact, and a test
// decides what breaks.
//
//   sim::SimulatedNetwork network({.latency = 3ms});
//   rpc::Server server(network);
//   auto client = rpc::Client::connect(network, {"server", 1}, Deadline::after(1s));
//   network.reset_all();  // As if the peers had died.
//
// Host names resolve to themselves; a listener is found by its port alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "net/network.h"

namespace corolane::sim {

class SimulatedStream;
class SimulatedListener;

class SimulatedNetwork : public net::Network {
 public:
  struct Options {
    Duration latency = std::chrono::milliseconds(1);  // Of each piece of bytes, one way.
    // Pieces arrive cut to at most so many bytes: 1 splits every frame at every byte.
    std::size_t piece_bytes_max = 64 * 1024;
  };

  SimulatedNetwork() : SimulatedNetwork(Options{}) {}
  explicit SimulatedNetwork(Options options) : options_(options) {}
  // Every listener and stream is gone by then.
  ~SimulatedNetwork() override;

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options = {}) override;
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options = {}) override;
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline deadline) override;

  // Of the connections that are made from now on; the others keep theirs.
  void set_latency(Duration latency) { options_.latency = latency; }
  // Both ends of every connection learn at once that it broke; bytes under way are lost.
  void reset_all();
  // From now on nothing arrives any more, and nobody is told.
  void go_silent() { silent_ = true; }

 private:
  friend class SimulatedStream;
  friend class SimulatedListener;

  Options options_;
  bool silent_ = false;
  std::uint16_t last_port_ = 40'000;
  std::map<std::uint16_t, SimulatedListener*> listeners_;
  std::vector<SimulatedStream*> streams_;
};

}  // namespace corolane::sim
