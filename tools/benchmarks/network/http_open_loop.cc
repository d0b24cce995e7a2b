// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/http_open_loop.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "net/stream.h"
#include "tools/benchmarks/network/http_text.h"

namespace corolane::bench {

Result<std::unique_ptr<HttpOpenLoop>> HttpOpenLoop::connect(std::uint16_t port, Options options) {
  auto epoll = Epoll::make();
  if (!epoll) return epoll.error();
  std::unique_ptr<HttpOpenLoop> loop(new HttpOpenLoop(std::move(*epoll), port, std::move(options)));
  for (std::size_t index = 0; index < loop->options_.connection_count; ++index) {
    loop->connections_.emplace_back();
    if (auto opened = loop->open(index); !opened) return opened.error();
  }
  return loop;
}

Result<void> HttpOpenLoop::open(std::size_t index) {
  auto socket = connect_to_loopback(port_);
  if (!socket) return socket.error();
  Connection& connection = connections_[index];
  if (connection.is_busy) count(connection, /*is_success=*/false, Clock::now());
  connection = {.flow = std::make_unique<Flow>(std::move(*socket), epoll_), .due = {}};
  free_.push_back(index);
  return connection.flow->start(index);
}

Result<OpenLoopOutcome> HttpOpenLoop::run(double calls_per_second, std::chrono::milliseconds time) {
  outcome_ = {};
  under_way_count_ = 0;
  ++run_;
  const Clock::time_point start = Clock::now();
  const Clock::time_point end = start + time;
  const std::chrono::duration<double> interval(1 / calls_per_second);
  const auto due_at = [&](std::uint64_t number) {
    return start +
           std::chrono::duration_cast<Clock::duration>(interval * static_cast<double>(number));
  };
  for (;;) {
    const Clock::time_point now = Clock::now();
    while (due_at(outcome_.sent_count) <= std::min(now, end)) {
      if (auto called = call(due_at(outcome_.sent_count)); !called) return called.error();
    }
    if (now >= end + options_.deadline || (now >= end && under_way_count_ == 0)) break;
    for (const epoll_event& event : epoll_.wait(0)) {
      if (auto done = handle(event.data.u64, event.events); !done) return done.error();
    }
  }
  return outcome_;
}

Result<void> HttpOpenLoop::call(Clock::time_point due) {
  ++outcome_.sent_count;
  if (free_.empty()) return {};
  const std::size_t index = free_.back();
  free_.pop_back();
  Connection& connection = connections_[index];
  connection.due = due;
  connection.run = run_;
  connection.is_busy = true;
  ++under_way_count_;
  if (connection.flow->write(net::bytes_of(options_.request))) return {};
  return open(index);
}

Result<void> HttpOpenLoop::handle(std::size_t index, std::uint32_t events) {
  Result<void> done;
  if ((events & EPOLLOUT) != 0) done = connections_[index].flow->write_unsent();
  if (done && (events & ~EPOLLOUT) != 0) done = take_reply(index);
  if (done) return done;
  std::erase(free_, index);
  return open(index);
}

Result<void> HttpOpenLoop::take_reply(std::size_t index) {
  Connection& connection = connections_[index];
  const auto input = connection.flow->read();
  if (!input) return input.error();
  const std::string_view text = net::text_of(*input);
  const std::size_t size = http_message_size(text);
  if (size == 0 || !connection.is_busy) {
    connection.flow->keep(*input);
    return {};
  }
  count(connection, text.starts_with("HTTP/1.1 200 "), Clock::now());
  connection.is_busy = false;
  connection.flow->keep(input->subspan(size));
  free_.push_back(index);
  return {};
}

void HttpOpenLoop::count(const Connection& connection, bool is_success, Clock::time_point now) {
  if (connection.run != run_) return;
  --under_way_count_;
  if (!is_success) {
    ++outcome_.refused_count;
    return;
  }
  const Clock::duration latency = now - connection.due;
  outcome_.latency_ns.record(static_cast<std::uint64_t>(latency.count()));
  ++(latency <= options_.deadline ? outcome_.good_count : outcome_.late_count);
}

}  // namespace corolane::bench
