// SPDX-License-Identifier: MIT
// Decides which requests an AdminServer answers.
//
//   AdminGate gate({.token = token, .log = &log});
//   if (auto refused = gate.refusal(request)) return *refused;
//
// With a token it lets in requests that present it. Without one, every request comes from this
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
#include <optional>
#include <string>
#include <utility>

#include "coroutine/base/clock.h"
#include "net/http/http.h"

namespace corolane::framework {
class Log;
}

namespace corolane::framework::detail {

class AdminGate {
 public:
  struct Options {
    std::string token = {};     // Empty: no token is required.
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

  // Returns the answer to a refused request; nullopt for the others. Suspends when the token is
  // wrong.
  std::optional<net::HttpResponse> refusal(const net::HttpRequest& request);

 private:
  void log_wrong_token(const net::HttpRequest& request);
  void pause();

  const Options options_;
  std::size_t paused_count_ = 0;
  std::deque<TimePoint> logged_at_;  // In the last minute.
  std::uint64_t unlogged_count_ = 0;
};

}  // namespace corolane::framework::detail
