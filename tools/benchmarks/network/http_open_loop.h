// SPDX-License-Identifier: MIT
// An open loop of calls by HTTP. A connection has one call at a time, so there are many of them. A
// call for which none is free has failed: its client would not wait for one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tools/benchmarks/network/flow.h"
#include "tools/benchmarks/network/open_loop.h"

namespace corolane::bench {

class HttpOpenLoop final : public OpenLoop {
 public:
  struct Options {
    std::string request;  // The text of every call.
    std::size_t connection_count;
    std::chrono::milliseconds deadline;  // For each call.
  };

  static Result<std::unique_ptr<HttpOpenLoop>> connect(std::uint16_t port, Options options);

  Result<OpenLoopOutcome> run(double calls_per_second, std::chrono::milliseconds time) override;

 private:
  struct Connection {
    std::unique_ptr<Flow> flow;
    Clock::time_point due;  // When its call was to leave.
    std::uint64_t run = 0;  // The run that its call belongs to.
    bool is_busy = false;
  };

  HttpOpenLoop(Epoll epoll, std::uint16_t port, Options options)
      : epoll_(std::move(epoll)), port_(port), options_(std::move(options)) {}

  Result<void> open(std::size_t index);
  Result<void> call(Clock::time_point due);
  Result<void> handle(std::size_t index, std::uint32_t events);
  Result<void> take_reply(std::size_t index);
  void count(const Connection& connection, bool is_success, Clock::time_point now);

  Epoll epoll_;
  std::uint16_t port_;
  Options options_;
  std::deque<Connection> connections_;
  std::vector<std::size_t> free_;
  std::uint64_t run_ = 0;
  std::size_t under_way_count_ = 0;  // Calls of this run without an answer.
  OpenLoopOutcome outcome_;
};

}  // namespace corolane::bench
