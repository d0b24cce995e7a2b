// SPDX-License-Identifier: MIT
// The outcome of the last calls of one object, for an operator who diagnoses it.
//
// Every object has a history, and most are never read. So a call takes a few bytes in a ring of
// fixed size, without allocation, and only errors, which are rare, keep their text.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"

namespace corolane::framework::detail {

class ObjectHistory {
 public:
  static constexpr std::size_t call_count_max = 8;
  static constexpr std::size_t error_count_max = 4;
  static constexpr std::size_t error_bytes_max = 300;

  struct Call {
    const char* method;         // "package.Counter/Add".
    std::optional<Code> error;  // Nothing after a success.
    Duration ago;               // Since its end.
    Duration took;              // To the precision of a loop turn.
  };
  struct Failure {
    std::string method;
    Error error;
    TimePoint at;
  };

  // `method` lives as long as the program.
  void add(const char* method, const Result<void>& result, TimePoint arrived_at,
           TimePoint ended_at) {
    add_entry(method, arrived_at, ended_at,
              result ? 0U : static_cast<std::uint32_t>(result.error().code()));
    if (!result) [[unlikely]]
      add_error(method, result.error(), ended_at);
  }
  void add_failed_save(const Error& error, TimePoint at);

  // The latest first; ages are relative to `now`.
  std::vector<Call> calls(TimePoint now) const;
  std::vector<Failure> errors() const;
  // The approximate size of its allocations.
  std::size_t extra_bytes() const;
  // The last failed save; its method is empty. Nothing when no save has failed.
  std::optional<Failure> failed_save() const;

 private:
  // Wraps around after 49 days: older times appear more recent.
  using Milliseconds = std::chrono::duration<std::uint32_t, std::milli>;
  // 27 bits of them hold 22 minutes.
  using Ticks = std::chrono::duration<std::uint32_t, std::ratio<1, 100'000>>;
  static constexpr std::uint32_t took_max = (std::uint32_t{1} << 27) - 1;

  struct Entry {
    const char* method = nullptr;
    std::uint32_t ended_at = 0;
    std::uint32_t took : 27 = 0;
    std::uint32_t outcome : 5 = 0;  // A code, or 0.
  };
  struct Failures {
    std::vector<Failure> of_calls;  // The latest at the end.
    std::optional<Failure> of_save;
  };

  // Time is not negative.
  static std::uint32_t milliseconds_of(TimePoint time) {
    return static_cast<std::uint32_t>(
        static_cast<std::uint64_t>(time.time_since_epoch() / Duration(1)) / 1'000'000);
  }
  void add_entry(const char* method, TimePoint arrived_at, TimePoint ended_at,
                 std::uint32_t outcome) {
    Entry& entry = entries_[next_];
    entry.method = method;
    entry.ended_at = milliseconds_of(ended_at);
    entry.took = ended_at > arrived_at ? ticks_of(ended_at - arrived_at) & took_max : 0;
    entry.outcome = outcome & 31U;
    next_ = (next_ + 1U) % call_count_max;
  }
  static std::uint32_t ticks_of(Duration duration);
  void add_error(const char* method, const Error& error, TimePoint ended_at);
  Failures& failures();

  std::array<Entry, call_count_max> entries_;
  std::unique_ptr<Failures> failures_;  // Null until there is one.
  std::uint8_t next_ = 0;               // The index of the next call.
};

}  // namespace corolane::framework::detail
