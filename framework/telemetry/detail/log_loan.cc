// SPDX-License-Identifier: MIT
#include "framework/telemetry/detail/log_loan.h"

#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"

namespace corolane::framework::detail {

LogLoan::LogLoan(Log& log)
    : Timer([](Timer& timer) { static_cast<LogLoan&>(timer).give_back(); }),
      log_(log),
      configured_(log.level()) {}

void LogLoan::lend(LogLevel level, Duration time) {
  if (level == configured_) {
    if (is_armed()) give_back();
    return;
  }
  until_ = now() + time;
  coroutine::Scheduler::current().timers().arm(*this, Deadline::at(until_));
  log_.set_level(level);
  log_.always("log level is changed for a while",
              {{"level", to_string(level)}, {"for", time}, {"then", to_string(configured_)}});
}

void LogLoan::configure(LogLevel level) {
  Timer::cancel();
  configured_ = level;
  log_.set_level(level);
}

std::optional<Duration> LogLoan::time_left() const {
  if (!is_armed()) return std::nullopt;
  return until_ - now();
}

void LogLoan::give_back() {
  Timer::cancel();
  log_.set_level(configured_);
  log_.always("log level is as configured again", {{"level", to_string(configured_)}});
}

}  // namespace corolane::framework::detail
