// SPDX-License-Identifier: MIT
// Streams with a read sink; a separate task answers each message.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "coroutine/task_group.h"
#include "net/uv/uv_network.h"
#include "tools/benchmarks/network/protocol.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

class EchoConnection final : public net::ReadSink {
 public:
  explicit EchoConnection(std::unique_ptr<net::Stream> stream) : stream_(std::move(stream)) {
    stream_->set_read_sink(*this);
  }

  void on_bytes(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const std::size_t count = std::min(bytes.size(), message_.size() - filled_count_);
      std::memcpy(message_.data() + filled_count_, bytes.data(), count);
      filled_count_ += count;
      bytes = bytes.subspan(count);
      if (filled_count_ < message_.size()) return;
      filled_count_ = 0;
      if (!handlers_.spawn("echo",
                           [this, message = message_] { return stream_->try_write(message); })) {
        stream_->close();
        return;
      }
    }
  }

  void on_end(const Error&) override { stream_->close(); }

 private:
  std::unique_ptr<net::Stream> stream_;
  std::array<std::byte, echo_bytes> message_;
  std::size_t filled_count_ = 0;
  coroutine::TaskGroup handlers_;
};

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  auto listener = network.listen({"127.0.0.1", 0});
  if (!listener) return listener.error();
  Seat::announce((*listener)->local_endpoint().port);
  // Connections are kept until the end: a generator opens them once.
  std::vector<std::unique_ptr<EchoConnection>> connections;
  for (;;) {
    auto stream = (*listener)->accept(Deadline::never());
    if (!stream) return stream.error();
    connections.push_back(std::make_unique<EchoConnection>(std::move(*stream)));
  }
}

}  // namespace

Error serve_our_echo(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
