// SPDX-License-Identifier: MIT
// Accepts connections that begin with a handshake: a task takes them from the inner listener and
// starts their handshakes, which need no task; completed ones wait for accept().
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "net/detail/call_count.h"
#include "net/detail/handshaking_stream.h"
#include "net/graveyard.h"
#include "net/network.h"

namespace corolane::net::detail {

class HandshakeListener final : public Listener, private HandshakingStream::Host {
 public:
  struct Rules {
    std::chrono::milliseconds handshake_time_max;
    // Handshakes under way, plus streams that wait for accept(). One more peer takes the place of
    // the oldest handshake.
    std::size_t handshake_count_max;
  };
  // Puts a stream, whose handshake has not begun, around an accepted connection.
  using Wrap = std::function<std::unique_ptr<HandshakingStream>(std::unique_ptr<Stream>)>;

  // `task_name` is that of its task, and outlives it.
  HandshakeListener(std::unique_ptr<Listener> inner, Wrap wrap, const char* task_name,
                    const Rules& rules);
  ~HandshakeListener() override { close(); }
  HandshakeListener(const HandshakeListener&) = delete;
  HandshakeListener& operator=(const HandshakeListener&) = delete;

  // Must be called first. Fails with resource_exhausted when there is no stack for its task.
  Result<void> start();

  Result<std::unique_ptr<Stream>> accept(Deadline deadline) override;
  void close() override;
  Endpoint local_endpoint() const override { return inner_->local_endpoint(); }

 private:
  void opened(HandshakingStream& stream) override;
  void failed(HandshakingStream& /*stream*/) override {}
  void ended(HandshakingStream& stream) override;

  // Runs in the listener's task.
  void take_connections();
  void drop_oldest();
  std::unique_ptr<HandshakingStream> take_out(HandshakingStream& stream);

  const std::unique_ptr<Listener> inner_;
  const Wrap wrap_;
  const char* const task_name_;
  const Rules rules_;
  bool closed_ = false;
  CallCount calls_;
  // Handshaking or parting; in order of arrival.
  std::vector<std::unique_ptr<HandshakingStream>> shaking_;
  Graveyard<HandshakingStream> ended_;
  // For accept(): handshakes that are done, and after them an error of the inner accept().
  coroutine::Channel<Result<std::unique_ptr<Stream>>> done_;
  coroutine::Event some_room_{"a place for a handshake"};
  coroutine::Task<void> taking_;
};

}  // namespace corolane::net::detail
