// SPDX-License-Identifier: MIT
// The schedule is arithmetic: call n of a run is due n intervals after the start, so that calls in
// flight need no record.
#include "tools/benchmarks/network/open_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "rpc/wire/frame.h"
#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {
namespace {

constexpr std::uint8_t reply_type = static_cast<std::uint8_t>(rpc::FrameType::reply);

}  // namespace

FramesOpenLoop::FramesOpenLoop(Epoll epoll, std::uint16_t port, Options options)
    : epoll_(std::move(epoll)),
      port_(port),
      options_(std::move(options)),
      request_(rpc_request(options_.method, options_.deadline)) {}

Result<std::unique_ptr<FramesOpenLoop>> FramesOpenLoop::connect(std::uint16_t port,
                                                                Options options) {
  auto epoll = Epoll::make();
  if (!epoll) return epoll.error();
  std::unique_ptr<FramesOpenLoop> loop(
      new FramesOpenLoop(std::move(*epoll), port, std::move(options)));
  for (std::size_t index = 0; index < loop->options_.connection_count; ++index) {
    loop->connections_.emplace_back();
    if (auto opened = loop->open(index); !opened) return opened.error();
  }
  return loop;
}

Result<void> FramesOpenLoop::open(std::size_t index) {
  auto socket = connect_to_loopback(port_);
  if (!socket) return socket.error();
  connections_[index] = {.flow = std::make_unique<Flow>(std::move(*socket), epoll_), .output = {}};
  Flow& flow = *connections_[index].flow;
  if (auto started = flow.start(index); !started) return started;
  Bytes hello;
  append_rpc_hello(hello);
  return flow.write(hello);
}

Result<OpenLoopOutcome> FramesOpenLoop::run(double calls_per_second,
                                            std::chrono::milliseconds time) {
  outcome_ = {};
  first_call_id_ = next_call_id_;
  interval_ = std::chrono::duration<double>(1 / calls_per_second);
  start_ = Clock::now();
  end_ = start_ + time;
  next_send_ = start_;
  const Clock::time_point over = end_ + options_.deadline;
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (auto sent = send_due(now); !sent) return sent.error();
    // The check follows the sending: a generator that was kept off its core still sends all due
    // calls.
    if (now >= over || is_done(now)) break;
    // The loop never sleeps: on virtual machines a sleeping core sometimes wakes up milliseconds
    // late, which would look like latency of the server.
    for (const epoll_event& event : epoll_.wait(0)) {
      if (auto done = handle(event.data.u64, event.events); !done) return done.error();
    }
  }
  outcome_.sent_count = next_call_id_ - first_call_id_;
  return outcome_;
}

FramesOpenLoop::Clock::time_point FramesOpenLoop::due_at(std::uint64_t call_id) const {
  const auto place = static_cast<double>(call_id - first_call_id_);
  return start_ + std::chrono::duration_cast<Clock::duration>(interval_ * place);
}

bool FramesOpenLoop::is_done(Clock::time_point now) const {
  return now >= end_ && due_at(next_call_id_) > end_ &&
         outcome_.answered_count() + outcome_.refused_count == next_call_id_ - first_call_id_;
}

void FramesOpenLoop::append_call(Bytes& output) {
  std::memcpy(request_.data() + offsetof(WireHeader, call_id), &next_call_id_,
              sizeof next_call_id_);
  output.insert(output.end(), request_.begin(), request_.end());
}

Result<void> FramesOpenLoop::send_due(Clock::time_point now) {
  if (now < next_send_ && now < end_) return {};
  next_send_ = now + options_.pace;
  const Clock::time_point until = std::min(now, end_);
  const std::uint64_t first = next_call_id_;
  for (; due_at(next_call_id_) <= until; ++next_call_id_) {
    append_call(connections_[next_call_id_ % connections_.size()].output);
  }
  // Connections take turns, so those with output are neighbours.
  const std::uint64_t count = std::min<std::uint64_t>(next_call_id_ - first, connections_.size());
  for (std::uint64_t call_id = first; call_id < first + count; ++call_id) {
    const std::size_t index = call_id % connections_.size();
    const Bytes output = std::exchange(connections_[index].output, {});
    if (connections_[index].flow->write(output)) continue;
    if (auto opened = open(index); !opened) return opened;
  }
  return {};
}

Result<void> FramesOpenLoop::handle(std::size_t index, std::uint32_t events) {
  Flow& flow = *connections_[index].flow;
  Result<void> done;
  if ((events & EPOLLOUT) != 0) done = flow.write_unsent();
  if (done && (events & ~EPOLLOUT) != 0) done = take_replies(flow);
  return done ? done : open(index);
}

Result<void> FramesOpenLoop::take_replies(Flow& flow) {
  const auto input = flow.read();
  if (!input) return input.error();
  const Clock::time_point now = Clock::now();
  std::size_t taken_count = 0;
  for (WireHeader header; input->size() - taken_count >= sizeof header;) {
    std::memcpy(&header, input->data() + taken_count, sizeof header);
    const std::size_t size = sizeof header + header.payload_size;
    if (input->size() - taken_count < size) break;
    taken_count += size;
    if (header.type == reply_type) count(header.call_id, header.code, now);
  }
  flow.keep(input->subspan(taken_count));
  return {};
}

void FramesOpenLoop::count(std::uint64_t call_id, std::uint8_t code, Clock::time_point now) {
  if (call_id < first_call_id_) return;
  if (code != 0) {
    ++outcome_.refused_count;
    return;
  }
  const Clock::duration latency = now - due_at(call_id);
  outcome_.latency_ns.record(static_cast<std::uint64_t>(latency.count()));
  ++(latency <= options_.deadline ? outcome_.good_count : outcome_.late_count);
}

}  // namespace corolane::bench
