// SPDX-License-Identifier: MIT
// The slowest recent calls, and the last ones that failed: for an operator who has heard that "it
// hangs sometimes".
//
//   for (const SlowCalls::Call& call : slow_calls.slowest(now(), 10min)) {
//     std::cout << call.method << " of " << call.object << ": " << call.took() << '\n';
//   }
//
// The slowest calls of each of the last ten minutes are kept. Any other call costs two comparisons:
// with the least duration that is kept, and with the end of the minute. Errors that are the
// server's fault are kept apart from errors that answer a bad request, which come in any number and
// would push the former out.
//
// Belongs to one shard.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/context.h"
#include "rpc/filter.h"

namespace corolane::framework {

class SlowCalls {
 public:
  static constexpr std::size_t minute_count = 10;
  static constexpr std::size_t slow_per_minute_max = 64;
  static constexpr std::size_t error_count_max = 64;  // For each kind.
  static constexpr std::size_t text_bytes_max = 300;  // For an error; for an id and a caller 100.

  struct Call {
    TimePoint ended_at;
    const char* method = nullptr;  // "package.Service/Method".
    std::string object;            // Its id; empty when none was called.
    std::string caller;            // An address, or the method of the calling object.
    Duration waited;               // For its turn in the server.
    Duration ran;
    std::optional<Code> code;         // Nothing for a success.
    bool is_fault_of_server = false;  // See rpc/observe/call_outcome.h.
    std::string error;
    std::string trace;  // Empty when the call is not traced.

    Duration took() const { return waited + ran; }
  };

  SlowCalls() = default;
  SlowCalls(const SlowCalls&) = delete;
  SlowCalls& operator=(const SlowCalls&) = delete;

  // Takes a call that has just ended. `caller` runs only when the call is kept.
  template <typename F = std::string (*)()>
  void look_at(
      rpc::Context& call, const Result<void>& result, TimePoint ended_at,
      F caller = [] { return std::string(); }) {
    if (!result || ended_at - call.arrived_at() > bar_ || ended_at >= minute_end_) [[unlikely]] {
      note(call, result, ended_at, caller());
    }
  }
  // The bar below which no call is kept.
  rpc::CallBar bar() const { return {.took_max = bar_, .ends_before = minute_end_}; }

  // The slowest calls that ended within the last `span`, in any order.
  std::vector<Call> slowest(TimePoint now, Duration span) const;
  // The failed calls, in any order.
  std::vector<Call> errors() const;

 private:
  struct Minute {
    std::int64_t number = -1;
    std::vector<Call> slowest;  // A heap: the least is first.
  };
  struct Errors {
    std::vector<Call> calls;
    std::size_t next = 0;
  };

  void note(rpc::Context& call, const Result<void>& result, TimePoint ended_at, std::string caller);
  void note_slow(const Call& call);

  Duration bar_{};  // The least duration of this minute, once the minute is full.
  TimePoint minute_end_{};
  std::array<Minute, minute_count> minutes_;
  Errors server_errors_;
  Errors other_errors_;
};

}  // namespace corolane::framework
