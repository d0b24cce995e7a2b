// SPDX-License-Identifier: MIT
// Decides which requests an AdminServer answers.
//
//   AdminGate gate({.token = token, .log = &log});
//   auto visitor = gate.admit(request);
//   if (!visitor) return visitor.error();
//
// With a token it lets in requests that present it. Without any, every request comes from this
// machine. But a foreign page in a browser here can send requests, too, once its site has its own
// name resolve to a loopback address. Such a request names the site as its Host, so the Host must
// be `localhost` or a literal loopback address.
//
// Belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <string>
#include <utility>

#include "coroutine/base/clock.h"
#include "net/http/http.h"

namespace corolane::framework {
class Log;
}

namespace corolane::framework::detail {

// A request that is let in.
struct AdminVisitor {
  bool may_act = false;  // Otherwise it may only read pages.
  std::string name;      // By its certificate, or as it calls itself; may be empty.
};

class AdminGate {
 public:
  struct Options {
    // Both empty: no token is required. Holders of the first may act, those of the second look.
    std::string token = {};
    std::string look_token = {};
    bool is_on_network = true;  // False for a Unix socket, which no browser opens.
    Log* log = nullptr;         // Receives wrong tokens with the peer's address. Outlives the gate.
    Duration wrong_token_pause = std::chrono::seconds(1);  // Before a wrong token is answered.
    // The number of answers that are delayed at a time. Beyond it answers are immediate, so that an
    // attacker who guesses holds no more connections than this.
    std::size_t paused_count_max = 8;
    std::size_t logged_per_minute_max =
        5;  // For wrong tokens; the next line has the number of omitted ones.
  };

  explicit AdminGate(Options options) : options_(std::move(options)) {}
  AdminGate(const AdminGate&) = delete;
  AdminGate& operator=(const AdminGate&) = delete;

  // Returns the visitor, or the answer to a refused request. Suspends when the token is wrong.
  std::expected<AdminVisitor, net::HttpResponse> admit(const net::HttpRequest& request);

 private:
  void log_wrong_token(const net::HttpRequest& request);
  void pause();

  const Options options_;
  std::size_t paused_count_ = 0;
  std::deque<TimePoint> logged_at_;  // In the last minute.
  std::uint64_t unlogged_count_ = 0;
};

}  // namespace corolane::framework::detail
