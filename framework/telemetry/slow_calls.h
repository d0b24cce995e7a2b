// The slowest calls of late, and the last ones that failed: what an operator asks for who has heard
// that "it hangs sometimes".
//
// Of each of the last ten minutes the slowest are kept. A call that is not among them costs two
// comparisons: it was slow only when it took longer than the least of those, or when a new minute
// has begun. Errors that point at the server are kept apart from those that answer what was asked,
// which come in any number and would push them out.
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
  static constexpr std::size_t error_count_max = 64;  // Of each kind.
  static constexpr std::size_t text_bytes_max = 300;  // Of an error; of an id and a caller, 100.

  struct Call {
    TimePoint ended_at;
    const char* method = nullptr;  // "package.Service/Method".
    std::string object;            // Its id; empty when none was called.
    std::string caller;            // An address, or the method of an object that called.
    Duration waited;               // For its turn in the server.
    Duration ran;
    std::optional<Code> code;  // Nothing for a success.
    std::string error;
    std::string trace;  // Empty when there is none.

    Duration took() const { return waited + ran; }
  };

  SlowCalls() = default;
  SlowCalls(const SlowCalls&) = delete;
  SlowCalls& operator=(const SlowCalls&) = delete;

  // A call that has ended then. `caller` is asked for only when it is noted.
  template <typename F = std::string (*)()>
  void look_at(
      rpc::Context& call, const Result<void>& result, TimePoint ended_at,
      F caller = [] { return std::string(); }) {
    if (!result || ended_at - call.arrived_at() > bar_ || ended_at >= minute_end_) [[unlikely]] {
      note(call, result, ended_at, caller());
    }
  }
  // Below which it notes none.
  rpc::CallBar bar() const { return {.took_max = bar_, .ends_before = minute_end_}; }

  // Of the minutes that are not over for longer than `span`, in any order.
  std::vector<Call> slowest(TimePoint now, Duration span) const;
  // In any order.
  std::vector<Call> errors() const;

 private:
  struct Minute {
    std::int64_t number = -1;
    std::vector<Call> slowest;  // A heap: the least first.
  };
  struct Errors {
    std::vector<Call> calls;
    std::size_t next = 0;
  };

  void note(rpc::Context& call, const Result<void>& result, TimePoint ended_at, std::string caller);
  void note_slow(const Call& call);

  Duration bar_{};  // The least of this minute, once it has all that it keeps.
  TimePoint minute_end_{};
  std::array<Minute, minute_count> minutes_;
  Errors server_errors_;
  Errors other_errors_;
};

}  // namespace corolane::framework
