// SPDX-License-Identifier: MIT
// The schedule is arithmetic, as in open_loop.cc.
#include "tools/benchmarks/network/session_open_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tools/benchmarks/network/rpc_requests.h"
#include "tools/benchmarks/network/wire_header.h"

namespace corolane::bench {

SessionOpenLoop::SessionOpenLoop(const Options& options)
    : options_(options),
      talk_(
          {.token = [name = options.name](
                        std::size_t client) { return name + "." + std::to_string(client); },
           .acknowledges = true,
           .on_reply = [this](std::uint64_t call_id, std::uint8_t code) { count(call_id, code); }}),
      request_(rpc_request("corolane.bench.Echo/Echo", options.deadline)) {}

Result<std::unique_ptr<SessionOpenLoop>> SessionOpenLoop::connect(std::uint16_t port,
                                                                  const Options& options) {
  std::unique_ptr<SessionOpenLoop> loop(new SessionOpenLoop(options));
  auto crowd = Crowd::connect(port, loop->talk_, options.session_count);
  if (!crowd) return crowd.error();
  loop->crowd_ = std::move(*crowd);
  if (auto joined = loop->crowd_->join(); !joined) return joined.error();
  return loop;
}

Result<void> SessionOpenLoop::let_cry() {
  const std::size_t answered_before = crowd_->heard().answer_count;
  if (auto asked = crowd_->request(0); !asked) return asked;
  return crowd_->await(&Heard::answer_count, answered_before + 1);
}

Result<OpenLoopOutcome> SessionOpenLoop::run(double calls_per_second,
                                             std::chrono::milliseconds time) {
  outcome_ = {};
  first_call_id_ = next_call_id_;
  interval_ = std::chrono::duration<double>(1 / calls_per_second);
  start_ = Clock::now();
  end_ = start_ + time;
  const Clock::time_point over = end_ + options_.deadline;
  for (;;) {
    const Clock::time_point now = Clock::now();
    if (auto sent = send_due(now); !sent) return sent.error();
    if (now >= over || is_done(now)) break;
    // It never sleeps, as in open_loop.cc.
    if (auto polled = crowd_->poll(0); !polled) return polled.error();
  }
  outcome_.sent_count = next_call_id_ - first_call_id_;
  return outcome_;
}

SessionOpenLoop::Clock::time_point SessionOpenLoop::due_at(std::uint64_t call_id) const {
  const auto place = static_cast<double>(call_id - first_call_id_);
  return start_ + std::chrono::duration_cast<Clock::duration>(interval_ * place);
}

bool SessionOpenLoop::is_done(Clock::time_point now) const {
  return now >= end_ && due_at(next_call_id_) > end_ &&
         outcome_.answered_count() + outcome_.refused_count == next_call_id_ - first_call_id_;
}

Result<void> SessionOpenLoop::send_due(Clock::time_point now) {
  const Clock::time_point until = std::min(now, end_);
  for (; due_at(next_call_id_) <= until; ++next_call_id_) {
    std::memcpy(request_.data() + offsetof(WireHeader, call_id), &next_call_id_,
                sizeof next_call_id_);
    if (auto said = crowd_->say(next_call_id_ % crowd_->size(), request_); !said) return said;
  }
  return {};
}

void SessionOpenLoop::count(std::uint64_t call_id, std::uint8_t code) {
  if (call_id < first_call_id_) return;
  if (code != 0) {
    ++outcome_.refused_count;
    return;
  }
  const Clock::duration latency = Clock::now() - due_at(call_id);
  outcome_.latency_ns.record(static_cast<std::uint64_t>(latency.count()));
  ++(latency <= options_.deadline ? outcome_.good_count : outcome_.late_count);
}

}  // namespace corolane::bench
