// SPDX-License-Identifier: MIT
// Accepts connections for a TlsNetwork: a task takes them from the inner listener and starts their
// handshakes, which need no task; completed ones wait for accept().
#pragma once

#include <memory>
#include <vector>

#include "coroutine/sync/channel.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "net/graveyard.h"
#include "net/tls/detail/tls_stream.h"
#include "net/tls/tls.h"

namespace corolane::net::detail {

class TlsListener final : public Listener, private TlsStream::Host {
 public:
  struct Rules {
    StreamOptions stream;
    std::chrono::milliseconds handshake_time_max;
    std::size_t handshake_count_max;
  };

  // `settings` refers to the settings for the next connection.
  TlsListener(std::unique_ptr<Listener> inner, const std::shared_ptr<const TlsSettings>& settings,
              std::shared_ptr<TlsShared> shared, const Rules& rules);
  ~TlsListener() override { close(); }
  TlsListener(const TlsListener&) = delete;
  TlsListener& operator=(const TlsListener&) = delete;

  // Must be called first. Fails with resource_exhausted when there is no stack for its task.
  Result<void> start();

  Result<std::unique_ptr<Stream>> accept(Deadline deadline) override;
  void close() override;
  Endpoint local_endpoint() const override { return inner_->local_endpoint(); }

 private:
  void opened(TlsStream& stream) override;
  void failed(TlsStream& /*stream*/) override {}
  void ended(TlsStream& stream) override;

  // Runs in the listener's task.
  void take_connections();
  void drop_oldest();
  std::unique_ptr<TlsStream> take_out(TlsStream& stream);

  const std::unique_ptr<Listener> inner_;
  const std::shared_ptr<const TlsSettings>& settings_;
  const std::shared_ptr<TlsShared> shared_;
  const Rules rules_;
  bool closed_ = false;
  CallCount calls_;
  // Handshaking or parting; in order of arrival.
  std::vector<std::unique_ptr<TlsStream>> shaking_;
  Graveyard<TlsStream> ended_;
  // For accept(): handshakes that are done, and after them an error of the inner accept().
  coroutine::Channel<Result<std::unique_ptr<Stream>>> done_;
  coroutine::Event some_room_{"a place for a TLS handshake"};
  coroutine::Task<void> taking_;
};

}  // namespace corolane::net::detail
