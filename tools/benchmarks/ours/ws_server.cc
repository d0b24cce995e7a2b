// SPDX-License-Identifier: MIT
// WebSockets with a sink; a separate task answers each message.
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/task_group.h"
#include "net/uv/uv_network.h"
#include "net/websocket/websocket_upgrade.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

// A generator opens all connections before it sends the first request.
constexpr std::chrono::seconds upgrade_time_max{60};

class EchoSocket final : public net::MessageSink {
 public:
  explicit EchoSocket(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {
    socket_->set_message_sink(*this);
  }

  void on_message(net::MessageKind kind, std::span<const std::byte> payload) override {
    std::array<std::byte, echo_bytes> message;
    if (payload.size() != message.size()) return socket_->close(close_too_big);
    std::memcpy(message.data(), payload.data(), message.size());
    if (!handlers_.spawn(
            "echo", [this, kind, message] { return socket_->try_write_message(kind, message); })) {
      socket_->abort();
    }
  }

  void on_end(const Error&) override {}

 private:
  static constexpr std::uint16_t close_too_big = 1009;

  std::unique_ptr<net::WebSocket> socket_;
  coroutine::TaskGroup handlers_;
};

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  auto listener = network.listen({"127.0.0.1", 0});
  if (!listener) return listener.error();
  Seat::announce((*listener)->local_endpoint().port);
  // Sockets are kept until the end: a generator opens them once.
  std::vector<std::unique_ptr<EchoSocket>> sockets;
  for (;;) {
    auto stream = (*listener)->accept(Deadline::never());
    if (!stream) return stream.error();
    auto socket = net::accept_websocket(*std::move(stream), Deadline::after(upgrade_time_max));
    if (socket) sockets.push_back(std::make_unique<EchoSocket>(*std::move(socket)));
  }
}

}  // namespace

Error serve_our_websocket(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
