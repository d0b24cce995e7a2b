// SPDX-License-Identifier: MIT
// The log of a node: one line per event, for people and for grep.
//
//   log.info("listening", {{"on", "127.0.0.1:8460"}, {"backlog", 1024}});
//
// The line that it writes:
//
//     2026-02-01T12:00:00.123Z info    listening on=127.0.0.1:8460 backlog=1024
//
// Time is UTC. The message is a constant sentence and varying values go into fields, so that equal
// events are found by their text. A line stays a single line whatever the values contain.
//
// Safe to use from any thread. Writing may block for as long as stderr does.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/deep_stack.h"
#include "coroutine/stray_exception.h"
#include "framework/telemetry/log_level.h"

namespace corolane::framework {

// One key=value of a line. Refers to texts: it lives no longer than the call that it is an argument
// of.
class LogField {
 public:
  using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, Duration>;

  LogField(std::string_view key, std::string_view value) : key_(key), value_(value) {}
  // Written in the largest unit that leaves a whole part, to three decimals: 5s, 12.346ms.
  LogField(std::string_view key, Duration value) : key_(key), value_(value) {}
  LogField(std::string_view key, double value) : key_(key), value_(value) {}
  LogField(std::string_view key, std::signed_integral auto value)
      : key_(key), value_(std::int64_t{value}) {}
  LogField(std::string_view key, std::unsigned_integral auto value)
      : key_(key), value_(std::uint64_t{value}) {}

  std::string_view key() const { return key_; }
  const Value& value() const { return value_; }

 private:
  std::string_view key_;  // lower_case words.
  Value value_;
};

// A line that is being written, in its parts. Valid only during the call it is passed to.
struct LogEvent {
  std::chrono::sys_time<Duration> time;
  LogLevel level;
  std::string_view message;
  std::span<const LogField> fields;
};

// A line that was written.
struct LogLine {
  std::chrono::sys_time<Duration> time;
  LogLevel level;
  std::string text;  // Message and fields, possibly truncated.
};

class Log {
 public:
  // The last lines are kept in memory for later readers, 200 KiB at most.
  static constexpr std::size_t last_line_count_max = 200;
  static constexpr std::size_t last_line_bytes_max = 1'000;

  using Fields = std::initializer_list<LogField>;
  // Takes a line, without its line break. One thread at a time calls it; it must not log.
  using Sink = std::function<void(std::string_view line)>;

  // Writes lines of `level` and above to stderr.
  explicit Log(LogLevel level);
  // Writes to `sink` instead.
  Log(LogLevel level, Sink sink);
  ~Log();
  Log(Log&& other) noexcept;
  Log& operator=(Log&& other) noexcept;

  // Whether lines of that level are written: saves the cost of building a line that is dropped.
  bool writes(LogLevel level) const { return level_.load(std::memory_order_relaxed) <= level; }
  LogLevel level() const { return level_.load(std::memory_order_relaxed); }
  // Applies from now on; lines that other threads write at this moment may still use the old level.
  void set_level(LogLevel level) { level_.store(level, std::memory_order_relaxed); }

  // For an engineer who looks for a bug.
  void debug(std::string_view message, Fields fields = {}) {
    if (writes(LogLevel::debug)) write(LogLevel::debug, message, fields);
  }
  // For events that an operator wants to read about later.
  void info(std::string_view message, Fields fields = {}) {
    if (writes(LogLevel::info)) write(LogLevel::info, message, fields);
  }
  // For a problem that the node copes with.
  void warning(std::string_view message, Fields fields = {}) {
    if (writes(LogLevel::warning)) write(LogLevel::warning, message, fields);
  }
  // For a problem that an operator has to look at.
  void error(std::string_view message, Fields fields = {}) {
    if (writes(LogLevel::error)) write(LogLevel::error, message, fields);
  }
  // Logs like info(), but at every level: for lines that any log must have, such as a change of its
  // level.
  void always(std::string_view message, Fields fields = {}) {
    write(LogLevel::info, message, fields);
  }

  // Passes each line to `tap` as well, before it is written; null: no more, from the return on. One
  // thread at a time calls it, that of the line; it must not log.
  using Tap = std::function<void(const LogEvent& event)>;
  void set_tap(Tap tap);

  // The last lines, the oldest first.
  std::vector<LogLine> last_lines() const;

 private:
  struct Impl;

  void write(LogLevel level, std::string_view message, Fields fields);

  std::atomic<LogLevel> level_;
  std::unique_ptr<Impl> impl_;
};

// Logs that a task of the node has ended with an exception that nothing caught.
void log_stray_exception(Log& log, const coroutine::StrayException& stray);
// Logs tasks that came close to the end of their stacks, each name once. `log` outlives it; the
// copies that it is handed on in are for one thread each.
coroutine::OnDeepStack deep_stack_logger(Log& log);

}  // namespace corolane::framework
