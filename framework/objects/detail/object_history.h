// What became of the last calls of one object, for whoever asks what is wrong with it.
//
// Every object has one, and most are never asked about: so the calls are a few bytes each in a ring
// of fixed size, which costs no allocation, and texts are kept of errors alone, which most objects
// never have.
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
    Duration took;              // To a turn of the loop.
  };
  struct Failure {
    std::string method;
    Error error;
    TimePoint at;
  };

  // `method` lives as long as the program.
  void add(const char* method, const Result<void>& result, TimePoint arrived_at,
           TimePoint ended_at);
  void add_failed_save(const Error& error, TimePoint at);

  // The last one first, as it is at that time.
  std::vector<Call> calls(TimePoint now) const;
  std::vector<Failure> errors() const;
  // What it has allocated, about.
  std::size_t extra_bytes() const;
  // That of the last save that failed; its method is empty. Nothing when none ever did.
  std::optional<Failure> failed_save() const;

 private:
  // 49 days are enough to count in milliseconds: those that lie further back look younger.
  using Milliseconds = std::chrono::duration<std::uint32_t, std::milli>;
  // Those that fit below 22 minutes.
  using Ticks = std::chrono::duration<std::uint32_t, std::ratio<1, 100'000>>;
  static constexpr std::uint32_t took_max = (std::uint32_t{1} << 27) - 1;

  struct Entry {
    const char* method = nullptr;
    std::uint32_t ended_at = 0;
    std::uint32_t took : 27 = 0;
    std::uint32_t outcome : 5 = 0;  // A code, or 0.
  };
  struct Failures {
    std::vector<Failure> of_calls;  // The last one at the end.
    std::optional<Failure> of_save;
  };

  static std::uint32_t milliseconds_of(TimePoint time);
  Failures& failures();

  std::array<Entry, call_count_max> entries_;
  std::unique_ptr<Failures> failures_;  // Null until there is one.
  std::uint8_t next_ = 0;               // The entry that the next call takes.
};

}  // namespace corolane::framework::detail
