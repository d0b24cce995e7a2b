// SPDX-License-Identifier: MIT
// The real network: TCP, Unix sockets and UDP by libuv.
//
//   EventLoop loop;
//   coroutine::Scheduler scheduler(loop);
//   UvNetwork network(loop);
//   auto ran = scheduler.run("main", [&] { serve(network); });
#pragma once

#include <memory>
#include <vector>

#include "net/network.h"
#include "net/uv/event_loop.h"

namespace corolane::net {

class UvNetwork : public Network {
 public:
  // `loop` outlives the network and all objects that it creates.
  explicit UvNetwork(EventLoop& loop) : loop_(loop) {}

  Result<std::unique_ptr<Listener>> listen(const Endpoint& endpoint,
                                           ListenOptions options = {}) override;
  Result<std::unique_ptr<Stream>> connect(const Endpoint& endpoint, Deadline deadline,
                                          StreamOptions options = {}) override;
  Result<std::unique_ptr<UdpSocket>> bind_udp(const Endpoint& endpoint,
                                              UdpOptions options = {}) override;
  Result<std::vector<Endpoint>> resolve(const HostPort& host, Deadline deadline) override;

 private:
  EventLoop& loop_;
};

}  // namespace corolane::net
