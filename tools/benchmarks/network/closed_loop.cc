// SPDX-License-Identifier: MIT
// Each slot is a request of the window; an answered slot is sent again.
#include "tools/benchmarks/network/closed_loop.h"

#include <deque>
#include <numeric>
#include <utility>

#include "coroutine/base/histogram.h"
#include "tools/benchmarks/network/flow.h"

namespace corolane::bench {
namespace {

using Clock = std::chrono::steady_clock;

// A server that is silent for this time has lost a request.
constexpr int silence_max_ms = 10'000;

struct Connection {
  Flow flow;
  std::unique_ptr<Protocol> protocol;
  std::vector<Clock::time_point> sent_at;  // For every slot.
};

class ClosedLoop final : public Generator {
 public:
  ClosedLoop(Epoll epoll, Load load) : epoll_(std::move(epoll)), load_(load) {}

  Result<void> connect(std::uint16_t port, MakeProtocol make_protocol);
  Result<LoadOutcome> run(std::chrono::milliseconds time) override;

 private:
  Result<void> greet(Connection& connection);
  Result<void> fill_windows();
  Result<void> handle(Connection& connection, std::uint32_t events);
  Result<void> take_replies(Connection& connection);
  Result<void> send(Connection& connection, std::span<const Slot> slots);

  Epoll epoll_;
  Load load_;
  std::deque<Connection> connections_;
  Replies replies_;
  Bytes output_;
  Histogram latency_ns_;
  std::uint64_t refused_count_ = 0;
  std::size_t under_way_count_ = 0;
  Clock::time_point end_;
};

Result<void> ClosedLoop::connect(std::uint16_t port, MakeProtocol make_protocol) {
  for (std::size_t index = 0; index < load_.connection_count; ++index) {
    auto socket = connect_to_loopback(port);
    if (!socket) return socket.error();
    connections_.push_back({.flow = Flow(std::move(*socket), epoll_),
                            .protocol = make_protocol(),
                            .sent_at = std::vector<Clock::time_point>(load_.in_flight)});
    Connection& connection = connections_.back();
    if (auto started = connection.flow.start(index); !started) return started;
    if (auto greeted = greet(connection); !greeted) return greeted;
  }
  return {};
}

Result<void> ClosedLoop::greet(Connection& connection) {
  Protocol& protocol = *connection.protocol;
  output_.clear();
  protocol.append_greeting(output_);
  if (output_.empty()) return {};
  if (auto written = connection.flow.write(output_); !written) return written;
  // All other connections are silent meanwhile.
  while (!protocol.is_greeted()) {
    if (epoll_.wait(silence_max_ms).empty()) {
      return Error(Code::deadline_exceeded, "the server sends no greeting");
    }
    const auto input = connection.flow.read();
    if (!input) return input.error();
    const auto taken = protocol.take_greeting(*input);
    if (!taken) return taken.error();
    connection.flow.keep(input->subspan(*taken));
  }
  return {};
}

Result<LoadOutcome> ClosedLoop::run(std::chrono::milliseconds time) {
  latency_ns_ = {};
  refused_count_ = 0;
  const Clock::time_point start = Clock::now();
  end_ = start + time;
  if (auto filled = fill_windows(); !filled) return filled.error();
  while (under_way_count_ > 0) {
    const auto events = epoll_.wait(silence_max_ms);
    if (events.empty()) return Error(Code::deadline_exceeded, "the server has lost a request");
    for (const epoll_event& event : events) {
      if (auto done = handle(connections_[event.data.u64], event.events); !done) {
        return done.error();
      }
    }
  }
  return LoadOutcome{.op_count = latency_ns_.count(),
                     .refused_count = refused_count_,
                     .elapsed = Clock::now() - start,
                     .p50 = std::chrono::nanoseconds(latency_ns_.quantile(0.5)),
                     .p99 = std::chrono::nanoseconds(latency_ns_.quantile(0.99))};
}

Result<void> ClosedLoop::fill_windows() {
  std::vector<Slot> all(load_.in_flight);
  std::iota(all.begin(), all.end(), Slot{0});
  for (Connection& connection : connections_) {
    under_way_count_ += all.size();
    if (auto sent = send(connection, all); !sent) return sent;
  }
  return {};
}

Result<void> ClosedLoop::handle(Connection& connection, std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) {
    if (auto written = connection.flow.write_unsent(); !written) return written;
  }
  return (events & ~EPOLLOUT) != 0 ? take_replies(connection) : Result<void>();
}

Result<void> ClosedLoop::take_replies(Connection& connection) {
  const auto input = connection.flow.read();
  if (!input) return input.error();
  replies_.answered.clear();
  replies_.refused.clear();
  const auto taken = connection.protocol->take_replies(*input, replies_);
  if (!taken) return taken.error();
  connection.flow.keep(input->subspan(*taken));
  const Clock::time_point now = Clock::now();
  for (const Slot slot : replies_.answered) {
    latency_ns_.record(static_cast<std::uint64_t>((now - connection.sent_at[slot]).count()));
  }
  refused_count_ += replies_.refused.size();
  if (now >= end_) {
    under_way_count_ -= replies_.answered.size() + replies_.refused.size();
    return {};
  }
  std::vector<Slot>& again = replies_.answered;
  again.insert(again.end(), replies_.refused.begin(), replies_.refused.end());
  return send(connection, again);
}

Result<void> ClosedLoop::send(Connection& connection, std::span<const Slot> slots) {
  if (slots.empty()) return {};
  output_.clear();
  connection.protocol->append_requests(slots, output_);
  const Clock::time_point now = Clock::now();
  for (const Slot slot : slots) connection.sent_at[slot] = now;
  return connection.flow.write(output_);
}

}  // namespace

Connect closed_loop(MakeProtocol make_protocol, Load load) {
  return [=](std::uint16_t port) -> Result<std::unique_ptr<Generator>> {
    auto epoll = Epoll::make();
    if (!epoll) return epoll.error();
    auto loop = std::make_unique<ClosedLoop>(std::move(*epoll), load);
    if (auto connected = loop->connect(port, make_protocol); !connected) return connected.error();
    return loop;
  };
}

}  // namespace corolane::bench
