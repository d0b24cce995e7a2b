// SPDX-License-Identifier: MIT
// A listening socket, of TCP or a Unix socket, as a Listener.
//
// Connections stay in the kernel's backlog until a task takes them: there is no second queue to
// bound, and an accept() that runs out of descriptors reports the error itself. libuv only reports
// readiness (uv_poll).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/sync/event.h"
#include "net/detail/call_count.h"
#include "net/detail/socket_address.h"
#include "net/network.h"
#include "net/uv/detail/socket_file.h"
#include "net/uv/event_loop.h"

namespace corolane::net::detail {

class SocketListener final : public Listener {
 public:
  SocketListener(EventLoop::Impl& loop, const ListenOptions& options);
  ~SocketListener() override { close(); }
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;

  // Must be called first; after a failure it can only be destroyed.
  Result<void> listen(const Endpoint& endpoint);

  Result<std::unique_ptr<Stream>> accept(Deadline deadline) override;
  void close() override;
  Endpoint local_endpoint() const override { return local_; }

 private:
  struct Watch;  // The part that libuv holds.

  Result<void> bind_and_listen(const SocketAddress& address);
  Result<void> set_options(const std::string& action);
  Result<void> wait_for_connection(Deadline deadline);
  void on_connection();

  EventLoop::Impl& loop_;
  const ListenOptions options_;
  Endpoint local_;
  int descriptor_ = -1;             // -1 while it does not listen.
  std::optional<SocketFile> file_;  // Set for a Unix socket with a path.
  Watch* watch_ = nullptr;
  bool watching_ = false;
  std::uint64_t accept_turn_ = 0;  // The loop's turn of the last accept(),
  int accepted_in_turn_ = 0;       // and how many it accepted in that turn.
  CallCount calls_;
  coroutine::Event connections_{"accept"};
};

}  // namespace corolane::net::detail
