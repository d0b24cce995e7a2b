// What became of the calls of a load.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/histogram.h"
#include "coroutine/base/result.h"

namespace corolane::tools::cli::bench {

class Tally {
 public:
  // A call that was to begin at `due` was begun at `sent` and has ended now, at `end`.
  void count(TimePoint due, TimePoint sent, TimePoint end, const Result<void>& outcome);
  // One that was not made, since too many were under way.
  void count_unsent() { ++unsent_; }

  std::uint64_t calls() const { return latency_us_.count(); }
  std::uint64_t errors() const;
  std::uint64_t unsent() const { return unsent_; }
  // From when a call was to begin to its end, errors included.
  const Histogram& latency_us() const { return latency_us_; }
  // How far sending was behind the schedule.
  const Histogram& late_us() const { return late_us_; }
  std::uint64_t errors_of(Code code) const { return errors_[static_cast<std::size_t>(code)]; }

 private:
  Histogram latency_us_;
  Histogram late_us_;
  std::array<std::uint64_t, code_count> errors_{};
  std::uint64_t unsent_ = 0;
};

// What a report says besides the tally.
struct Ran {
  std::string method;
  double rate = 0;
  double seconds = 0;            // It took, replies included.
  std::uint64_t unanswered = 0;  // Calls that were given up at the end.
};

std::string report_text(const Ran& ran, const Tally& tally);
std::string report_json(const Ran& ran, const Tally& tally);

}  // namespace corolane::tools::cli::bench
