// A level of the log for a while: who looks for a bug turns it up, and forgets to turn it down
// again. So it is lent, and comes back by itself.
//
// Belongs to the scheduler of its node.
#pragma once

#include <chrono>
#include <optional>

#include "coroutine/base/clock.h"
#include "coroutine/timer_wheel.h"
#include "framework/telemetry/log.h"

namespace corolane::framework::detail {

class LogLoan : private coroutine::Timer {
 public:
  static constexpr Duration time_default = std::chrono::minutes(10);
  static constexpr Duration time_max = std::chrono::days(1);

  // `log` outlives it; its level is that of the configuration now.
  explicit LogLoan(Log& log);

  // From now on for so long, in place of a loan that there is. That of the configuration ends it.
  void lend(LogLevel level, Duration time);
  // The configuration says another level: that holds from now on, and the loan is over.
  void configure(LogLevel level);

  // What the log goes back to.
  LogLevel configured() const { return configured_; }
  // Nothing when none is lent.
  std::optional<Duration> time_left() const;

 private:
  void give_back();

  Log& log_;
  LogLevel configured_;
  TimePoint until_{};
};

}  // namespace corolane::framework::detail
