// SPDX-License-Identifier: MIT
// A temporary log level. An operator who raises the level to find a bug tends to forget to lower
// it, so the level reverts by itself.
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

  // `log` outlives it; its present level is the configured one.
  explicit LogLoan(Log& log);

  // Sets `level` for `time` and replaces a running loan. Lending the configured level ends the
  // loan.
  void lend(LogLevel level, Duration time);
  // Sets a new configured level and ends the loan.
  void configure(LogLevel level);

  // The level after the loan.
  LogLevel configured() const { return configured_; }
  // Nothing when no level is lent.
  std::optional<Duration> time_left() const;

 private:
  void give_back();

  Log& log_;
  LogLevel configured_;
  TimePoint until_{};
};

}  // namespace corolane::framework::detail
