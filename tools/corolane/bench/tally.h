// SPDX-License-Identifier: MIT
// The outcomes of the calls of a load.
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
  // Counts a call that was scheduled for `due`, sent at `sent`, and has ended at `end`.
  void count(TimePoint due, TimePoint sent, TimePoint end, const Result<void>& outcome);
  // Counts a call that was not sent because too many were in flight.
  void count_unsent() { ++unsent_; }

  std::uint64_t calls() const { return latency_us_.count(); }
  std::uint64_t errors() const;
  std::uint64_t unsent() const { return unsent_; }
  // From the scheduled time of a call to its end, including failed calls.
  const Histogram& latency_us() const { return latency_us_; }
  // How late calls were sent.
  const Histogram& late_us() const { return late_us_; }
  std::uint64_t errors_of(Code code) const { return errors_[static_cast<std::size_t>(code)]; }

 private:
  Histogram latency_us_;
  Histogram late_us_;
  std::array<std::uint64_t, code_count> errors_{};
  std::uint64_t unsent_ = 0;
};

// The facts of a run that a report shows besides the tally.
struct Ran {
  std::string method;
  double rate = 0;
  double seconds = 0;            // The duration, including the replies.
  std::uint64_t unanswered = 0;  // Calls still without a reply at the end.
};

std::string report_text(const Ran& ran, const Tally& tally);
std::string report_json(const Ran& ran, const Tally& tally);

}  // namespace corolane::tools::cli::bench
