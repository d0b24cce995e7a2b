// SPDX-License-Identifier: MIT
// One connection of a client that keeps a session, frame by frame: it may stop at any byte, and say
// what an rpc::Client never would. rpc/PROTOCOL.md says what the frames mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"
#include "net/stream.h"
#include "rpc/wire/frame.h"

namespace corolane::sim {

class WireClient {
 public:
  struct Hello {
    std::string user;     // It logs in by its name.
    std::string session;  // The secret that it shows; empty: none.
    std::uint64_t received_push = 0;
  };

  // Suspends. Fails as net::Network::connect() does.
  static Result<WireClient> connect(net::Network& network, const net::HostPort& server,
                                    Deadline deadline);

  // Sends the first `bytes_max` bytes of the hello; never suspends.
  void say_hello(const Hello& hello, std::size_t bytes_max = SIZE_MAX);
  void acknowledge(std::uint64_t push);
  void ping();

  struct Received {
    rpc::FrameType type = rpc::FrameType::hello;
    std::uint64_t number = 0;  // Of a push or a gap.
    std::string message;
  };
  // The next frame. Suspends. Fails with deadline_exceeded, with unavailable when the server has
  // closed, and as its bye says.
  Result<Received> receive(Deadline deadline);

 private:
  explicit WireClient(std::unique_ptr<net::Stream> stream) : stream_(std::move(stream)) {}
  void send(const rpc::FrameHeader& header, const std::string& message, std::size_t bytes_max);

  std::unique_ptr<net::Stream> stream_;
  std::unique_ptr<rpc::FrameDecoder> decoder_ =
      std::make_unique<rpc::FrameDecoder>(std::size_t{1} << 20);
  std::array<std::byte, 4096> buffer_{};
};

}  // namespace corolane::sim
