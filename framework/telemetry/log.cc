// SPDX-License-Identifier: MIT
#include "framework/telemetry/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "coroutine/base/text.h"

namespace corolane::framework {
namespace {

constexpr const char* line_pattern = "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v";

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Text from a peer must not forge a field or a line.
void append_value(std::string& out, std::string_view text) {
  const std::string quoted = quote(text);
  const bool plain = !text.empty() && !text.contains(' ') && !text.contains('=') &&
                     quoted.size() == text.size() + 2;
  out.append(plain ? text : quoted);
}

template <typename T, typename... Format>
  requires std::is_arithmetic_v<T>
void append_number(std::string& out, T value, Format... format) {
  std::array<char, 400> digits;  // The largest double has 309 before the point.
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format...);
  out.append(digits.data(), end.ptr);
}

void append_value(std::string& out, std::int64_t value) { append_number(out, value); }
void append_value(std::string& out, std::uint64_t value) { append_number(out, value); }
void append_value(std::string& out, double value) { append_number(out, value); }

void append_value(std::string& out, Duration value) {
  struct Unit {
    double nanoseconds;
    std::string_view name;
  };
  constexpr auto units = std::to_array<Unit>({{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
  const auto nanoseconds = static_cast<double>(value.count());
  const double size = nanoseconds < 0 ? -nanoseconds : nanoseconds;
  const auto* unit =
      std::ranges::find_if(units, [&](const Unit& u) { return size >= u.nanoseconds; });
  if (unit == units.end()) {
    out.append("0s");
    return;
  }
  append_number(out, nanoseconds / unit->nanoseconds, std::chars_format::fixed, 3);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  out.append(unit->name);
}

class FunctionSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FunctionSink(Log::Sink take_line) : take_line_(std::move(take_line)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::string_view text(line.data(), line.size());
    if (text.ends_with('\n')) text.remove_suffix(1);
    take_line_(text);
  }
  void flush_() override {}

 private:
  Log::Sink take_line_;
};

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::debug;
    case spdlog::level::info:
      return LogLevel::info;
    case spdlog::level::warn:
      return LogLevel::warning;
    default:
      return LogLevel::error;
  }
}

// The last lines. A new line reuses the memory of the one it replaces.
class LastLines : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::vector<LogLine> lines() {
    const std::scoped_lock lock(mutex_);
    const auto oldest = lines_.begin() + static_cast<std::ptrdiff_t>(next_ % lines_.size());
    std::vector<LogLine> lines(oldest, lines_.end());
    if (next_ < lines_.size()) lines.clear();
    lines.insert(lines.end(), lines_.begin(), oldest);
    return lines;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    LogLine& line = lines_[next_++ % lines_.size()];
    line.time = message.time;
    line.level = level_of(message.level);
    const std::size_t size = std::min(message.payload.size(), Log::last_line_bytes_max);
    line.text.assign(message.payload.data(), size);
  }
  void flush_() override {}

 private:
  std::vector<LogLine> lines_ = std::vector<LogLine>(Log::last_line_count_max);
  std::size_t next_ = 0;  // The number of lines so far.
};

}  // namespace

std::string_view to_string(LogLevel level) {
  const auto all = choices(level);
  return std::ranges::find(all, level, &config::Choice<LogLevel>::value)->name;
}

struct Log::Impl {
  // Lines are kept before they are written, since writing may block.
  explicit Impl(spdlog::sink_ptr sink) : logger("", {last_lines, std::move(sink)}) {
    logger.set_level(spdlog::level::trace);  // Log has filtered already.
    logger.set_pattern(line_pattern, spdlog::pattern_time_type::utc);
  }

  void pass_to_tap(const LogEvent& event) {
    const std::scoped_lock lock(tap_mutex);
    if (tap) tap(event);
  }

  std::shared_ptr<LastLines> last_lines = std::make_shared<LastLines>();
  std::atomic<bool> has_tap = false;
  std::mutex tap_mutex;
  Tap tap;
  spdlog::logger logger;
};

Log::Log(LogLevel level)
    : level_(level),
      impl_(std::make_unique<Impl>(std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Log::Log(LogLevel level, Sink sink)
    : level_(level),
      impl_(std::make_unique<Impl>(std::make_shared<FunctionSink>(std::move(sink)))) {}

Log::~Log() = default;
Log::Log(Log&& other) noexcept
    : level_(other.level_.load(std::memory_order_relaxed)), impl_(std::move(other.impl_)) {}
Log& Log::operator=(Log&& other) noexcept {
  set_level(other.level_.load(std::memory_order_relaxed));
  impl_ = std::move(other.impl_);
  return *this;
}

void Log::set_tap(Tap tap) {
  const std::scoped_lock lock(impl_->tap_mutex);
  impl_->tap = std::move(tap);
  impl_->has_tap.store(impl_->tap != nullptr, std::memory_order_relaxed);
}

std::vector<LogLine> Log::last_lines() const { return impl_->last_lines->lines(); }

void Log::write(LogLevel level, std::string_view message, Fields fields) {
  std::string text = escaped(message);
  for (const LogField& field : fields) {
    text.push_back(' ');
    text.append(field.key());
    text.push_back('=');
    std::visit([&](const auto& value) { append_value(text, value); }, field.value());
  }
  if (impl_->has_tap.load(std::memory_order_relaxed)) {
    impl_->pass_to_tap(
        {.time = time_of_day(), .level = level, .message = message, .fields = fields});
  }
  impl_->logger.log(spdlog_level(level), text);
}

void log_stray_exception(Log& log, const coroutine::StrayException& stray) {
  const std::string site =
      stray.spawn_site.file_name() + (":" + std::to_string(stray.spawn_site.line()));
  log.error(stray.is_stackless ? "a stackless coroutine ended with a stray exception"
                               : "a task ended with a stray exception",
            {{"task", stray.task_name}, {"spawned_at", site}, {"what", stray.what}});
}

coroutine::OnDeepStack deep_stack_logger(Log& log) {
  return [&log,
          told = std::set<std::string, std::less<>>()](const coroutine::DeepStack& deep) mutable {
    constexpr std::size_t names_max = 1'000;
    if (told.contains(deep.task_name) || told.size() == names_max) return;
    told.emplace(deep.task_name);
    const std::string site =
        deep.spawn_site.file_name() + (":" + std::to_string(deep.spawn_site.line()));
    log.warning(
        "a task came close to the end of its stack: corolane stacks --apply FILE gives a "
        "method a larger one",
        {{"task", deep.task_name},
         {"spawned_at", site},
         {"measured", deep.is_measured ? "yes" : "no, or one before it on this stack"},
         {"used_bytes", deep.used_bytes},
         {"size_bytes", deep.size_bytes}});
  };
}

}  // namespace corolane::framework
