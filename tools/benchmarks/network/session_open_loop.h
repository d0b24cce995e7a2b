// SPDX-License-Identifier: MIT
// Calls of sessions over WebSockets at a fixed rate. The sessions follow the crier, and acknowledge
// what they are pushed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tools/benchmarks/network/crowd.h"
#include "tools/benchmarks/network/open_loop.h"
#include "tools/benchmarks/network/session_talk.h"

namespace corolane::bench {

class SessionOpenLoop final : public OpenLoop {
 public:
  struct Options {
    std::string name;  // A prefix of the principals.
    std::size_t session_count = 1;
    std::chrono::milliseconds deadline{1'000};  // For each call.
  };

  static Result<std::unique_ptr<SessionOpenLoop>> connect(std::uint16_t port,
                                                          const Options& options);

  // Lets the crier publish. Blocks until it has.
  Result<void> let_cry();
  // Fails also when a connection ends.
  Result<OpenLoopOutcome> run(double calls_per_second, std::chrono::milliseconds time) override;

 private:
  explicit SessionOpenLoop(const Options& options);

  Result<void> send_due(Clock::time_point now);
  void count(std::uint64_t call_id, std::uint8_t code);
  Clock::time_point due_at(std::uint64_t call_id) const;
  bool is_done(Clock::time_point now) const;

  const Options options_;
  SessionTalk talk_;
  std::unique_ptr<Crowd> crowd_;
  Bytes request_;
  std::uint64_t next_call_id_ = SessionTalk::request_call_id + 1;
  // The state of the current run.
  std::uint64_t first_call_id_ = next_call_id_;
  std::chrono::duration<double> interval_{0};
  Clock::time_point start_;
  Clock::time_point end_;
  OpenLoopOutcome outcome_;
};

}  // namespace corolane::bench
