// SPDX-License-Identifier: MIT
// The generator of open loops: calls leave on schedule, whether or not earlier calls were answered,
// like calls of very many clients. When the server cannot keep up, calls pile up.
//
// The latency of a call counts from its place in the schedule: a generator that falls behind does
// not make the server look better.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "coroutine/base/histogram.h"
#include "tools/benchmarks/network/flow.h"
#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

// The outcome of the calls of one run.
struct OpenLoopOutcome {
  std::uint64_t sent_count = 0;
  std::uint64_t good_count = 0;     // Answered with success, within the deadline.
  std::uint64_t late_count = 0;     // Answered with success, after the deadline.
  std::uint64_t refused_count = 0;  // Answered with an error.
  Histogram latency_ns;             // For successful calls only.

  std::uint64_t answered_count() const { return good_count + late_count; }
};

class OpenLoop {
 public:
  virtual ~OpenLoop() = default;

  // Sends `calls_per_second` for `time`, then waits for calls in flight, at most for the deadline.
  // Replies to calls of an earlier run do not count. A connection that ends is reopened.
  virtual Result<OpenLoopOutcome> run(double calls_per_second, std::chrono::milliseconds time) = 0;

 protected:
  using Clock = std::chrono::steady_clock;

  OpenLoop() = default;
};

// Calls by frames, any number at the same time on each connection.
class FramesOpenLoop final : public OpenLoop {
 public:
  struct Options {
    std::string method;
    std::size_t connection_count;
    std::chrono::milliseconds deadline;  // For each call.
    // Calls that are due within this time leave together. A generator that writes each of very many
    // calls by itself is slower than the server that it should overload.
    std::chrono::milliseconds pace{0};
  };

  static Result<std::unique_ptr<FramesOpenLoop>> connect(std::uint16_t port, Options options);

  Result<OpenLoopOutcome> run(double calls_per_second, std::chrono::milliseconds time) override;

 private:
  struct Connection {
    std::unique_ptr<Flow> flow;
    Bytes output;
  };

  FramesOpenLoop(Epoll epoll, std::uint16_t port, Options options);

  Result<void> open(std::size_t index);
  void append_call(Bytes& output);
  Result<void> send_due(Clock::time_point now);
  Result<void> handle(std::size_t index, std::uint32_t events);
  Result<void> take_replies(Flow& flow);
  void count(std::uint64_t call_id, std::uint8_t code, Clock::time_point now);
  bool is_done(Clock::time_point now) const;
  Clock::time_point due_at(std::uint64_t call_id) const;

  Epoll epoll_;
  std::uint16_t port_;
  Options options_;
  Bytes request_;
  std::deque<Connection> connections_;
  std::uint64_t next_call_id_ = 1;
  // The state of the current run.
  std::uint64_t first_call_id_ = 1;
  std::chrono::duration<double> interval_{0};
  Clock::time_point start_;
  Clock::time_point end_;
  Clock::time_point next_send_;
  OpenLoopOutcome outcome_;
};

}  // namespace corolane::bench
