// SPDX-License-Identifier: MIT
// Streams and listeners that exchange bytes after a delay, in virtual time.
#include "net/testing/network.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "coroutine/timer_wheel.h"
#include "net/detail/read_half.h"
#include "net/testing/udp_socket.h"

namespace corolane::sim {
namespace {

Error closed_here() { return Error(Code::unavailable, "the stream was closed"); }

}  // namespace

// One end of a connection. Its bytes wait in the peer's `arriving_` until they are due.
class SimulatedStream final : public net::Stream,
                              private net::ByteBudget::Account::Owner,
                              private coroutine::Timer {
 public:
  SimulatedStream(SimulatedNetwork& network, Duration latency, net::Endpoint local,
                  net::Endpoint peer, net::StreamOptions options)
      : Timer([](Timer& timer) { static_cast<SimulatedStream&>(timer).deliver_due(); }),
        network_(network),
        latency_(latency),
        local_(std::move(local)),
        peer_endpoint_(std::move(peer)),
        options_(options),
        input_(network.buffers_, "stream read") {
    network_.streams_.push_back(this);
    if (options_.budget != nullptr) account_.open(*options_.budget, *this);
  }
  ~SimulatedStream() override {
    close();
    std::erase(network_.streams_, this);
  }

  static void join(SimulatedStream& a, SimulatedStream& b) {
    a.peer_ = &b;
    b.peer_ = &a;
  }

  Result<std::size_t> read_some(std::span<std::byte> buffer, Deadline deadline) override {
    auto count = input_.read_some(buffer, deadline);
    if (!count) return count.error();
    if (*count == 0 && failure_) return *failure_;
    if (peer_ != nullptr) peer_->taken(*count);
    return *count;
  }

  void set_read_sink(net::ReadSink& sink) override {
    if (input_.set_sink(sink)) deliver_soon();
  }
  void release_read_sink(std::span<const std::byte> unread) override {
    if (!input_.has_sink()) return;
    if (peer_ != nullptr) peer_->under_way_bytes_ += unread.size();  // They are taken later.
    input_.release_sink(unread);
  }
  void pause_reading() override { input_.pause(); }
  void resume_reading() override {
    if (input_.resume()) reading_since_ = now();
    if (input_.has_sink()) deliver_soon();
  }

  Result<void> write_all(std::span<const std::byte> bytes, Deadline deadline) override {
    if (auto sent = send(bytes); !sent) return sent;
    while (under_way_bytes_ > options_.output_bytes_max) {
      if (auto waited = writable_.wait(deadline); !waited) return waited.error();
      if (is_closed()) return closed_here();
    }
    return {};
  }

  Result<void> try_write(std::span<const std::byte> bytes) override {
    if (!is_closed() && under_way_bytes_ > options_.output_bytes_max) {
      return Error(Code::resource_exhausted, "the peer does not read");
    }
    return send(bytes);
  }

  Result<void> append(std::span<const std::byte> bytes) override { return send(bytes); }

  Result<void> flush(Deadline) override {
    if (is_closed()) return closed_here();
    return {};
  }

  void finish_writing() override {
    if (!is_closed() && !finished_) {
      finished_ = true;
      if (peer_ != nullptr) peer_->arrive({.bytes = {}, .is_end = true});
    }
  }

  void close() override {
    Timer::cancel();
    leave_peer({.bytes = {}, .is_end = true});
    if (!failure_) failure_ = closed_here();
    input_.close();
    writable_.pulse();
  }

  // The connection breaks at this end.
  void reset() {
    if (is_closed()) return;
    peer_ = nullptr;
    arriving_.clear();
    failure_ = Error(Code::unavailable, "connection reset by peer");
    writable_.pulse();
    arm(Deadline::passed());
  }

  // This end breaks the connection.
  void break_off() {
    if (!is_closed()) leave_peer({.bytes = {}, .is_reset = true});
    reset();
  }

  bool is_closed() const override { return failure_.has_value(); }
  const net::Endpoint& peer_endpoint() const override { return peer_endpoint_; }
  const net::Endpoint& local_endpoint() const override { return local_; }
  net::StreamStatistics statistics() const override {
    net::StreamStatistics statistics = statistics_;
    statistics.unsent_bytes = under_way_bytes_;
    statistics.acknowledged_bytes = statistics.written_bytes - under_way_bytes_;
    statistics.reading_since = sink_is_open() ? reading_since_ : TimePoint::max();
    statistics.output_bytes_max = options_.output_bytes_max;
    return statistics;
  }
  net::ByteBudget::Account* account() override { return &account_; }
  net::PartingStreams* parting_streams() override { return &*network_.parting_streams_; }

 private:
  struct Piece {
    std::vector<std::byte> bytes;
    bool is_end = false;
    bool is_reset = false;
    TimePoint due{};
  };

  Result<void> send(std::span<const std::byte> bytes) {
    if (is_closed()) return closed_here();
    if (finished_) return Error(Code::failed_precondition, "write after the end of the stream");
    statistics_.written_bytes += bytes.size();
    while (!bytes.empty() && peer_ != nullptr) {
      const auto piece = bytes.first(std::min(bytes.size(), network_.options_.piece_bytes_max));
      under_way_bytes_ += piece.size();
      peer_->arrive({.bytes = {piece.begin(), piece.end()}});
      bytes = bytes.subspan(piece.size());
    }
    held_.set(under_way_bytes_);
    return {};
  }

  void evict() override {
    evicted_ = true;
    arm(Deadline::passed());
  }

  // Sends `last` to the peer as its last piece.
  void leave_peer(Piece last) {
    SimulatedStream* const peer = std::exchange(peer_, nullptr);
    if (peer == nullptr) return;
    peer->peer_ = nullptr;
    // Nothing is read any more.
    peer->under_way_bytes_ = 0;
    peer->held_.set(0);
    peer->writable_.pulse();
    peer->arrive(std::move(last));
  }

  void arrive(Piece piece) {
    if (network_.silent_ || is_closed()) return;
    piece.due = now() + latency_;
    arriving_.push_back(std::move(piece));
    if (!is_armed()) arm(Deadline::at(arriving_.front().due));
  }

  void arm(Deadline deadline) { coroutine::Scheduler::current().timers().arm(*this, deadline); }

  void deliver_soon() {
    if (input_.has_early() || input_.has_ended()) arm(Deadline::passed());
  }

  void deliver_due() {
    if (std::exchange(evicted_, false)) {
      account_.close();
      if (!is_closed()) return break_off();
    }
    const TimePoint time = now();
    while (!arriving_.empty() && arriving_.front().due <= time) {
      const Piece piece = std::move(arriving_.front());
      arriving_.pop_front();
      if (piece.is_reset) return reset();
      statistics_.received_bytes += piece.bytes.size();
      statistics_.heard_at = time;
      input_.keep(piece.bytes);
      if (piece.is_end) input_.end();
      hand_over();
      if (is_closed()) return;
    }
    if (failure_) input_.end();
    hand_over();
    if (!is_closed() && !arriving_.empty()) arm(Deadline::at(arriving_.front().due));
  }

  void taken(std::size_t count) {
    const bool was_open = sink_is_open();
    under_way_bytes_ -= count;
    held_.set(under_way_bytes_);
    if (!was_open && sink_is_open()) reading_since_ = now();
    writable_.pulse();
    if (input_.has_sink() && input_.has_early() && sink_is_open()) arm(Deadline::passed());
  }

  bool sink_is_open() const {
    if (input_.is_paused()) return false;
    const bool is_tight = account_.is_tight();
    return under_way_bytes_ <= (is_tight ? 0 : options_.output_while_reading_max);
  }

  void hand_over() {
    if (input_.has_sink() && input_.has_early() && sink_is_open()) {
      if (peer_ != nullptr) peer_->taken(input_.early_size());
      input_.deliver_early();
    }
    if (!input_.owes_end(is_closed())) return;
    input_.tell_end(failure_ ? *failure_ : Error(Code::unavailable, "closed by peer"));
  }

  SimulatedNetwork& network_;
  const Duration latency_;
  net::Endpoint local_;
  net::Endpoint peer_endpoint_;
  net::StreamOptions options_;
  SimulatedStream* peer_ = nullptr;
  std::deque<Piece> arriving_;
  net::detail::ReadHalf input_;
  std::optional<Error> failure_;  // Set when closed or broken.
  bool finished_ = false;         // By finish_writing().
  bool evicted_ = false;
  std::size_t under_way_bytes_ = 0;
  TimePoint reading_since_ = now();
  net::StreamStatistics statistics_{.opened_at = now(), .heard_at = now()};
  coroutine::Event writable_{"stream write"};
  net::ByteBudget::Account account_;
  net::ByteBudget::Share held_{&account_};
};

class SimulatedListener final : public net::Listener {
 public:
  SimulatedListener(SimulatedNetwork& network, net::Endpoint local, net::ListenOptions options)
      : network_(network), local_(std::move(local)), options_(options) {
    network_.listeners_[local_.port] = this;
  }
  ~SimulatedListener() override { close(); }

  Result<std::unique_ptr<net::Stream>> accept(Deadline deadline) override {
    while (waiting_.empty()) {
      if (closed_) return closed_here();
      if (auto waited = some_wait_.wait(deadline); !waited) return waited.error();
    }
    std::unique_ptr<net::Stream> stream = std::move(waiting_.front());
    waiting_.pop_front();
    return stream;
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    network_.listeners_.erase(local_.port);
    waiting_.clear();
    some_wait_.pulse();
  }

  net::Endpoint local_endpoint() const override { return local_; }

  void offer(std::unique_ptr<net::Stream> stream) {
    waiting_.push_back(std::move(stream));
    some_wait_.pulse();
  }
  const net::ListenOptions& options() const { return options_; }

 private:
  SimulatedNetwork& network_;
  net::Endpoint local_;
  net::ListenOptions options_;
  bool closed_ = false;
  std::deque<std::unique_ptr<net::Stream>> waiting_;
  coroutine::Event some_wait_{"accept"};
};

SimulatedNetwork::~SimulatedNetwork() {
  parting_streams_.reset();
  check(listeners_.empty() && streams_.empty() && udp_sockets_.empty(),
        "nothing outlives its network");
}

Result<std::unique_ptr<net::Listener>> SimulatedNetwork::listen(const net::Endpoint& endpoint,
                                                                net::ListenOptions options) {
  net::Endpoint local = endpoint;
  if (local.port == 0) local.port = ++last_port_;
  if (listeners_.contains(local.port)) {
    return Error(Code::already_exists, to_string(local) + " is in use");
  }
  return std::make_unique<SimulatedListener>(*this, local, options);
}

Result<std::unique_ptr<net::Stream>> SimulatedNetwork::connect(const net::Endpoint& endpoint,
                                                               Deadline deadline,
                                                               net::StreamOptions options) {
  ++connect_count_;
  const Host host = host_at(endpoint.address);
  const Duration latency = host.latency.value_or(options_.latency);
  const bool is_silent = silent_ || host.is_silent;
  const Deadline arrival = is_silent ? deadline : Deadline::after(latency * 2);
  if (auto slept = coroutine::sleep_until(earlier(deadline, arrival)); !slept) return slept.error();
  if (silent_ || is_silent || arrival > deadline) {
    return Error(Code::deadline_exceeded, "connect to " + to_string(endpoint) + ": no answer");
  }
  const auto found = listeners_.find(endpoint.port);
  if (host.refuses || found == listeners_.end()) {
    return Error(Code::unavailable, "connect to " + to_string(endpoint) + ": connection refused");
  }
  const net::Endpoint local{.address = client_address_, .port = ++last_port_};
  auto near = std::make_unique<SimulatedStream>(*this, latency, local, endpoint, options);
  auto far = std::make_unique<SimulatedStream>(*this, latency, endpoint, local,
                                               found->second->options().stream);
  SimulatedStream::join(*near, *far);
  found->second->offer(std::move(far));
  return near;
}

Result<std::unique_ptr<net::UdpSocket>> SimulatedNetwork::bind_udp(const net::Endpoint& endpoint,
                                                                   net::UdpOptions options) {
  return SimulatedUdpSocket::bind(*this, endpoint, options);
}

void SimulatedNetwork::deliver(const net::Endpoint& from, const net::Endpoint& to,
                               std::span<const std::byte> bytes) {
  const Host host = host_at(to.address);
  const auto found = udp_sockets_.find(to);
  if (silent_ || host.is_silent || found == udp_sockets_.end()) return;
  found->second->arrive(from, bytes, host.latency.value_or(options_.latency));
}

Result<std::vector<net::Endpoint>> SimulatedNetwork::resolve(const net::HostPort& host, Deadline) {
  const auto known = addresses_.find(host.host);
  if (known == addresses_.end()) {
    return std::vector<net::Endpoint>{{.address = host.host, .port = host.port}};
  }
  std::vector<net::Endpoint> found;
  for (const std::string& address : known->second) {
    found.push_back({.address = address, .port = host.port});
  }
  return found;
}

SimulatedNetwork::Host SimulatedNetwork::host_at(const std::string& address) const {
  const auto known = hosts_.find(address);
  return known == hosts_.end() ? Host{} : known->second;
}

void SimulatedNetwork::reset_all() {
  for (SimulatedStream* const stream : std::vector(streams_)) stream->reset();
}

void SimulatedNetwork::reset(net::Stream& stream) {
  static_cast<SimulatedStream&>(stream).break_off();
}

}  // namespace corolane::sim
