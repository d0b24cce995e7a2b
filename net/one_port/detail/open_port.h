// SPDX-License-Identifier: MIT
// A port of a OnePort that is open: a task accepts connections, which need no task until their
// first bytes have come; then they wait for the listener of their kind.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "net/connection_bound.h"
#include "net/detail/call_count.h"
#include "net/graveyard.h"
#include "net/network.h"
#include "net/one_port/one_port.h"

namespace corolane::net::detail {

class KindListener;

// Counts a connection until its server accepts it. It has a place in the bound of connections, or
// is one of the few that go without.
class Seat {
 public:
  // `placeless_count` counts the latter; outlives it.
  Seat(ConnectionBound::Place place, std::size_t& placeless_count)
      : place_(std::move(place)), placeless_count_(place_ ? nullptr : &placeless_count) {
    if (placeless_count_ != nullptr) ++*placeless_count_;
  }
  ~Seat() {
    if (placeless_count_ != nullptr) --*placeless_count_;
  }
  Seat(Seat&& other) noexcept
      : place_(std::move(other.place_)),
        placeless_count_(std::exchange(other.placeless_count_, nullptr)) {}
  Seat& operator=(Seat&& other) = delete;

 private:
  ConnectionBound::Place place_;
  std::size_t* placeless_count_;
};

class OpenPort {
 public:
  // All ports of a OnePort share it.
  struct Shared {
    ConnectionBound& connections;
    const std::vector<OnePort::Kind> kinds;
    const OnePort::Options options;
    OnePort::Statistics statistics;
    std::size_t first_bytes_max;      // That of its most demanding kind.
    std::size_t placeless_count = 0;  // Connections that are not accepted and have no place.
  };

  // `shared` outlives it.
  OpenPort(Shared& shared, std::unique_ptr<Listener> inner);
  ~OpenPort();
  OpenPort(const OpenPort&) = delete;
  OpenPort& operator=(const OpenPort&) = delete;

  // Must be called first. Fails with resource_exhausted when there is no stack for its task.
  Result<void> start();

  Endpoint local_endpoint() const { return inner_->local_endpoint(); }
  bool is_open() const { return !closed_; }
  bool has_listener(std::size_t kind) const { return listeners_[kind] != nullptr; }
  void add(std::size_t kind, KindListener& listener) { listeners_[kind] = &listener; }
  // Closes the port when it was the last one.
  void remove(std::size_t kind);

 private:
  class Newcomer;

  // Runs in the port's task.
  void take_connections();
  void close();

  Shared& shared_;
  const std::unique_ptr<Listener> inner_;
  std::vector<KindListener*> listeners_;  // By kind; null where nobody listens.
  bool closed_ = false;
  std::list<std::unique_ptr<Newcomer>> newcomers_;
  Graveyard<Newcomer> ended_;
  coroutine::Task<void> taking_;
};

// A listener for one kind of connections at an open port.
class KindListener final : public Listener {
 public:
  KindListener(std::shared_ptr<OpenPort> port, std::size_t kind);
  ~KindListener() override { close(); }
  KindListener(const KindListener&) = delete;
  KindListener& operator=(const KindListener&) = delete;

  Result<std::unique_ptr<Stream>> accept(Deadline deadline) override;
  void close() override;
  Endpoint local_endpoint() const override { return port_->local_endpoint(); }

  // Called by the port.
  void offer(std::unique_ptr<Stream> stream, Seat seat);

 private:
  struct Waiting {
    std::unique_ptr<Stream> stream;
    Seat seat;
  };

  const std::shared_ptr<OpenPort> port_;
  const std::size_t kind_;
  bool closed_ = false;
  std::deque<Waiting> waiting_;  // Each has a seat.
  CallCount calls_;
  coroutine::Event some_wait_{"accept"};
};

}  // namespace corolane::net::detail
