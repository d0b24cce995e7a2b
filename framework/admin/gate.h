// Decides which requests an AdminServer answers.
//
// With a token it lets in whoever shows it. Without one, what reaches the listener comes from this
// machine; but a page of a strange site in a browser here does so, too, once the site has its own
// name resolve to a loopback address. Such a request names the site as its Host: so that has to be
// `localhost` or a literal loopback address.
//
// Belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "net/http/http.h"

namespace corolane::framework {
class Log;
}

namespace corolane::framework::detail {

class AdminGate {
 public:
  struct Options {
    std::string token = {};     // Empty: none is asked for.
    bool is_on_network = true;  // Not on a Unix socket, which no browser opens.
    Log* log = nullptr;  // Gets wrong tokens, with the address they came from. Outlives this.
    Duration wrong_token_pause = std::chrono::seconds(1);  // Before the answer to a wrong token.
    // Answers that are held back at a time; more are given at once, so that whoever guesses holds
    // no more connections than these.
    std::size_t paused_count_max = 8;
    std::size_t logged_per_minute_max =
        5;  // Of wrong tokens; the next line has the number of others.
  };

  explicit AdminGate(Options options) : options_(std::move(options)) {}
  AdminGate(const AdminGate&) = delete;
  AdminGate& operator=(const AdminGate&) = delete;

  // The answer to a request that is not let in; nullopt for the others. Suspends when the token is
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
