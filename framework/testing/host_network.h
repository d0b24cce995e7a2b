// SPDX-License-Identifier: MIT
// The fabric as one host sees it: its listeners and its ends of connections.
//
//   HostNetwork network(fabric, server);
//   auto listener = network.listen({"0.0.0.0", 8460});
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coroutine/sync/event.h"
#include "framework/testing/fabric.h"
#include "net/network.h"

namespace corolane::sim {

class HostListener;

class HostNetwork final : public net::Network {
 public:
  // Both outlive it.
  HostNetwork(Fabric& fabric, Host& host) : fabric_(fabric), host_(host) {}

  Host& host() const { return host_; }

  Result<std::unique_ptr<net::Listener>> listen(const net::Endpoint& endpoint,
                                                net::ListenOptions options = {}) override;
  Result<std::unique_ptr<net::Stream>> connect(const net::Endpoint& endpoint, Deadline deadline,
                                               net::StreamOptions options = {}) override;
  Result<std::vector<net::Endpoint>> resolve(const net::HostPort& host, Deadline deadline) override;

  // Drops all listeners, because the process has died.
  void forget_listeners() { listeners_.clear(); }

 private:
  friend class HostListener;

  struct Attempt;
  void knock(const std::shared_ptr<Attempt>& attempt, std::uint16_t port);
  void answer(const std::shared_ptr<Attempt>& attempt);
  std::uint16_t next_port();
  std::vector<HostNetwork*> listening_on(std::uint16_t port) const;

  Fabric& fabric_;
  Host& host_;
  std::uint16_t last_port_ = 40'000;  // Used of the process alone, like an operating system's.
  std::map<std::uint16_t, HostListener*> listeners_;
};

// One end of a connection.
class HostStream final : public net::Stream {
 public:
  HostStream(Fabric& fabric, std::shared_ptr<Fabric::Connection> connection, std::size_t side,
             net::Endpoint local, net::Endpoint peer, const net::StreamOptions& options);
  ~HostStream() override;

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override;
  void set_read_sink(net::ReadSink& sink) override;
  void release_read_sink(std::span<const std::byte> unread) override;
  void pause_reading() override { is_paused_ = true; }
  void resume_reading() override;
  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override;
  Result<void> try_write(std::span<const std::byte> bytes) override;
  Result<void> append(std::span<const std::byte> bytes) override { return send(bytes); }
  Result<void> flush(Deadline deadline) override;
  void finish_writing() override;
  void close() override;
  bool is_closed() const override { return is_closed_ || is_broken_; }
  const net::Endpoint& peer_endpoint() const override { return peer_; }
  const net::Endpoint& local_endpoint() const override { return local_; }

  // Breaks this end. Called on its host's loop.
  void reset();

 private:
  using End = Fabric::Connection::End;

  End& end() const { return connection_->ends[side_]; }
  End& other_end() const { return connection_->ends[1 - side_]; }
  Result<void> send(std::span<const std::byte> bytes);
  void send_output();
  void send_end();
  void take(std::size_t count);
  void room_made();
  void arrive(std::vector<std::byte> bytes);
  void arrive_end();
  bool is_sink_open() const;
  void hand_over_soon();
  void hand_over();

  Fabric& fabric_;
  const std::shared_ptr<Fabric::Connection> connection_;
  const std::size_t side_;
  const net::Endpoint local_;
  const net::Endpoint peer_;
  const net::StreamOptions options_;
  net::ReadSink* sink_ = nullptr;
  std::vector<std::byte> output_;  // Written in this step.
  std::vector<std::byte> received_;
  std::optional<Error> ended_by_;  // Set when nothing more arrives.
  bool is_finished_by_peer_ = false;
  bool is_finished_ = false;
  bool is_paused_ = false;
  bool is_broken_ = false;
  bool is_closed_ = false;
  coroutine::Event readable_{"stream read"};
  coroutine::Event writable_{"stream write"};
};

}  // namespace corolane::sim
