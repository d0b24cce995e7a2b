// SPDX-License-Identifier: MIT
// Listeners and streams that hand bytes to the fabric, and take them from it.
#include "framework/testing/host_network.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/might_suspend.h"
#include "framework/testing/host.h"

namespace corolane::sim {
namespace {

Error closed_here() { return Error(Code::unavailable, "the stream was closed"); }

}  // namespace

class HostListener final : public net::Listener {
 public:
  HostListener(HostNetwork& network, net::Endpoint local, const net::ListenOptions& options)
      : network_(network), local_(std::move(local)), options_(options) {
    network_.listeners_[local_.port] = this;
  }
  ~HostListener() override { close(); }

  Result<std::unique_ptr<net::Stream>> accept(Deadline deadline) override {
    while (waiting_.empty()) {
      if (is_closed_) return closed_here();
      if (auto waited = some_wait_.wait(deadline); !waited) return waited.error();
    }
    std::unique_ptr<net::Stream> stream = std::move(waiting_.front());
    waiting_.pop_front();
    return stream;
  }

  void close() override {
    if (std::exchange(is_closed_, true)) return;
    const auto place = network_.listeners_.find(local_.port);
    if (place != network_.listeners_.end() && place->second == this) {
      network_.listeners_.erase(place);
    }
    waiting_.clear();
    some_wait_.pulse();
  }

  net::Endpoint local_endpoint() const override { return local_; }
  const net::ListenOptions& options() const { return options_; }
  // The operating system queues connections even while the process stands still.
  void offer(std::unique_ptr<net::Stream> stream) { waiting_.push_back(std::move(stream)); }
  void look() { some_wait_.pulse(); }

 private:
  HostNetwork& network_;
  const net::Endpoint local_;
  const net::ListenOptions options_;
  bool is_closed_ = false;
  std::deque<std::unique_ptr<net::Stream>> waiting_;
  coroutine::Event some_wait_{"accept"};
};

// A connection attempt, on its way to a host and back.
struct HostNetwork::Attempt {
  Attempt(Host& its_from, net::Endpoint its_to, net::Endpoint its_local)
      : from(its_from), to(std::move(its_to)), local(std::move(its_local)) {}

  Host& from;
  const net::Endpoint to;
  const net::Endpoint local;
  bool is_given_up = false;
  std::shared_ptr<Fabric::Connection> connection = {};  // Null: refused.
  coroutine::Event answered{"connect"};
};

Result<std::unique_ptr<net::Listener>> HostNetwork::listen(const net::Endpoint& endpoint,
                                                           net::ListenOptions options) {
  if (!host_.is_alive()) return Error(Code::unavailable, "the process ends");
  net::Endpoint local = endpoint;
  if (local.port == 0) local.port = next_port();
  const auto shares_it = [&](const HostNetwork* network) {
    return network != this && options.shares_port &&
           network->listeners_.at(local.port)->options().shares_port;
  };
  if (!std::ranges::all_of(listening_on(local.port), shares_it)) {
    return Error(Code::already_exists, to_string(local) + " is in use");
  }
  return std::make_unique<HostListener>(*this, local, options);
}

Result<std::unique_ptr<net::Stream>> HostNetwork::connect(const net::Endpoint& endpoint,
                                                          Deadline deadline,
                                                          net::StreamOptions options) {
  if (!host_.is_alive()) return Error(Code::unavailable, "the process ends");
  HostNetwork* const peer = endpoint.address == "127.0.0.1" ? this : fabric_.find(endpoint.address);
  if (peer == nullptr) {
    return Error(Code::unavailable, "connect to " + to_string(endpoint) + ": no such host");
  }
  const net::Endpoint local{.address = Fabric::address_of(host_), .port = next_port()};
  const auto attempt = std::make_shared<Attempt>(host_, endpoint, local);
  fabric_.leave(host_, peer->host_, [peer, attempt](TimePoint arrival) {
    peer->fabric_.simulation_.at(arrival,
                                 [peer, attempt] { peer->knock(attempt, attempt->to.port); });
  });
  if (auto waited = attempt->answered.wait(deadline); !waited) {
    attempt->is_given_up = true;
    return std::move(waited.error()).with_context("connect to " + to_string(endpoint));
  }
  if (attempt->connection == nullptr) {
    return Error(Code::unavailable, "connect to " + to_string(endpoint) + ": connection refused");
  }
  return std::make_unique<HostStream>(fabric_, attempt->connection, 0, local, endpoint, options);
}

std::uint16_t HostNetwork::next_port() {
  return ++fabric_.networks_.at(host_.process().index())->last_port_;
}

// The threads of the process that listen on that port.
std::vector<HostNetwork*> HostNetwork::listening_on(std::uint16_t port) const {
  std::vector<HostNetwork*> found;
  for (const auto& [index, network] : fabric_.networks_) {
    const bool is_of_process = &network->host_.process() == &host_.process();
    if (is_of_process && network->host_.is_alive() && network->listeners_.contains(port)) {
      found.push_back(network.get());
    }
  }
  return found;
}

// The operating system answers, not the process. A switched-off machine does not answer.
void HostNetwork::knock(const std::shared_ptr<Attempt>& attempt, std::uint16_t port) {
  if (fabric_.is_off(host_) && !host_.is_alive()) return;
  const auto listening = listening_on(port);
  if (host_.is_alive() && !listening.empty()) {
    HostNetwork& chosen = *listening[fabric_.dice_.below(listening.size())];
    HostListener& listener = *chosen.listeners_.at(port);
    attempt->connection = fabric_.connect(attempt->from, chosen.host_);
    listener.offer(std::make_unique<HostStream>(fabric_, attempt->connection, 1, attempt->to,
                                                attempt->local, listener.options().stream));
    chosen.host_.post([&chosen, port] {
      if (const auto place = chosen.listeners_.find(port); place != chosen.listeners_.end())
        place->second->look();
    });
  }
  fabric_.leave(host_, attempt->from, [this, attempt](TimePoint arrival) {
    fabric_.simulation_.at(arrival, attempt->from, [this, attempt] { answer(attempt); });
  });
}

void HostNetwork::answer(const std::shared_ptr<Attempt>& attempt) {
  if (attempt->is_given_up) {
    if (attempt->connection != nullptr) fabric_.break_off(attempt->connection, 1);
    return;
  }
  attempt->answered.set();
}

Result<std::vector<net::Endpoint>> HostNetwork::resolve(const net::HostPort& host, Deadline) {
  for (const auto& [index, network] : fabric_.networks_) {
    const std::string address = Fabric::address_of(network->host_);
    if (network->host_.name() == host.host || address == host.host) {
      return std::vector<net::Endpoint>{{.address = address, .port = host.port}};
    }
  }
  if (host.host == "127.0.0.1") {
    return std::vector<net::Endpoint>{{.address = host.host, .port = host.port}};
  }
  return Error(Code::not_found, host.host + ": no such host");
}

HostStream::HostStream(Fabric& fabric, std::shared_ptr<Fabric::Connection> connection,
                       std::size_t side, net::Endpoint local, net::Endpoint peer,
                       const net::StreamOptions& options)
    : fabric_(fabric),
      connection_(std::move(connection)),
      side_(side),
      local_(std::move(local)),
      peer_(std::move(peer)),
      options_(options) {
  end().stream = this;
  end().had_stream = true;
  for (auto& work : std::exchange(end().early, {})) work(this);
}

HostStream::~HostStream() { close(); }

Result<std::size_t> HostStream::read_some(std::span<std::byte> buffer, Deadline deadline) {
  check(sink_ == nullptr, "a stream with a sink has no other reader");
  while (received_.empty() && !ended_by_) {
    if (is_closed_) return closed_here();
    if (auto waited = readable_.wait(deadline); !waited) return waited.error();
  }
  if (received_.empty()) {
    if (is_finished_by_peer_) return std::size_t{0};
    return *ended_by_;
  }
  const std::size_t count = std::min(buffer.size(), received_.size());
  std::copy_n(received_.begin(), count, buffer.begin());
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(count));
  take(count);
  return count;
}

void HostStream::set_read_sink(net::ReadSink& sink) {
  sink_ = &sink;
  hand_over_soon();
}

void HostStream::release_read_sink(std::span<const std::byte> unread) {
  if (std::exchange(sink_, nullptr) == nullptr) return;
  is_paused_ = false;
  received_.insert(received_.begin(), unread.begin(), unread.end());
  other_end().under_way_bytes += unread.size();  // They are taken later.
}

void HostStream::resume_reading() {
  is_paused_ = false;
  hand_over_soon();
}

Result<void> HostStream::write_all(std::span<const std::byte> bytes, Deadline deadline) {
  if (auto sent = send(bytes); !sent) return sent;
  while (end().under_way_bytes > options_.output_bytes_max) {
    end().wants_room = true;
    if (auto waited = writable_.wait(deadline); !waited) return waited.error();
    if (is_closed()) return closed_here();
  }
  coroutine::might_suspend(deadline);
  return {};
}

Result<void> HostStream::try_write(std::span<const std::byte> bytes) {
  if (!is_closed() && end().under_way_bytes > options_.output_bytes_max) {
    return Error(Code::resource_exhausted, "the peer does not read");
  }
  return send(bytes);
}

Result<void> HostStream::flush(Deadline) {
  if (is_closed()) return closed_here();
  return {};
}

Result<void> HostStream::send(std::span<const std::byte> bytes) {
  if (is_closed()) return closed_here();
  if (is_finished_) return Error(Code::failed_precondition, "write after the end of the stream");
  if (bytes.empty()) return {};
  end().under_way_bytes += bytes.size();
  // All bytes of a step are sent at once.
  if (output_.empty() && end().host->is_alive()) {
    end().host->after_step([connection = connection_, side = side_] {
      if (HostStream* const stream = connection->ends[side].stream) stream->send_output();
    });
  }
  output_.insert(output_.end(), bytes.begin(), bytes.end());
  return {};
}

void HostStream::send_output() {
  if (output_.empty()) return;
  fabric_.send(connection_, 1 - side_,
               [bytes = std::exchange(output_, {})](HostStream* peer) mutable {
                 peer->arrive(std::move(bytes));
               });
}

void HostStream::finish_writing() {
  if (is_closed() || std::exchange(is_finished_, true)) return;
  send_output();
  send_end();
}

void HostStream::send_end() {
  fabric_.send(connection_, 1 - side_, [](HostStream* peer) { peer->arrive_end(); });
}

void HostStream::close() {
  if (std::exchange(is_closed_, true)) return;
  if (!is_broken_ && !is_finished_) send_end();
  end().stream = nullptr;
  sink_ = nullptr;
  output_.clear();
  // Discards bytes that the peer has sent.
  take(other_end().under_way_bytes);
  readable_.pulse();
  writable_.pulse();
}

void HostStream::reset() {
  if (is_closed()) return;
  is_broken_ = true;
  output_.clear();
  ended_by_ = Error(Code::unavailable, "connection reset by peer");
  is_finished_by_peer_ = false;
  writable_.pulse();
  hand_over();
}

void HostStream::take(std::size_t count) {
  End& sender = other_end();
  sender.under_way_bytes -= std::min(count, sender.under_way_bytes);
  if (!std::exchange(sender.wants_room, false)) return;
  fabric_.send(connection_, 1 - side_, [](HostStream* peer) { peer->room_made(); });
}

void HostStream::room_made() {
  writable_.pulse();
  if (sink_ != nullptr) hand_over();
}

void HostStream::arrive(std::vector<std::byte> bytes) {
  if (is_closed()) return;
  fabric_.simulation_.trace().add(fabric_.simulation_.now(), end().host->name(), "bytes from", [&] {
    return other_end().host->name() + " " + std::to_string(bytes.size()) + " to port " +
           std::to_string(local_.port);
  });
  fabric_.simulation_.trace().mix(
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (received_.empty()) {
    received_ = std::move(bytes);
  } else {
    received_.insert(received_.end(), bytes.begin(), bytes.end());
  }
  hand_over();
}

void HostStream::arrive_end() {
  if (is_closed()) return;
  ended_by_ = Error(Code::unavailable, "closed by peer");
  is_finished_by_peer_ = true;
  hand_over();
}

bool HostStream::is_sink_open() const {
  return !is_paused_ && end().under_way_bytes <= options_.output_while_reading_max;
}

// Hands over later, never inside the caller's call.
void HostStream::hand_over_soon() {
  if ((received_.empty() && !ended_by_) || !end().host->is_alive()) return;
  end().host->post([connection = connection_, side = side_] {
    if (HostStream* const stream = connection->ends[side].stream) stream->hand_over();
  });
}

void HostStream::hand_over() {
  if (sink_ == nullptr) {
    if (!received_.empty() || ended_by_) readable_.pulse();
    return;
  }
  if (!received_.empty()) {
    if (!is_sink_open()) {
      end().wants_room = true;
      if (!is_broken_) return;
    } else {
      const std::vector<std::byte> bytes = std::exchange(received_, {});
      take(bytes.size());
      sink_->on_bytes(bytes);
    }
  }
  if (!is_closed_ && ended_by_ && sink_ != nullptr)
    std::exchange(sink_, nullptr)->on_end(*ended_by_);
}

}  // namespace corolane::sim
