// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_logs.h"

#include <limits>
#include <string_view>
#include <type_traits>

#include "framework/telemetry/detail/otlp_text.h"
#include "rpc/call_scope.h"

namespace corolane::framework {
namespace {

using detail::otlp::append_comma;
using detail::otlp::append_double;
using detail::otlp::append_int64;
using detail::otlp::append_number;
using detail::otlp::append_text;

// The numbers of https://opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber.
struct Severity {
  int number;
  std::string_view text;
};

Severity severity_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return {5, "DEBUG"};
    case LogLevel::info:
      return {9, "INFO"};
    case LogLevel::warning:
      return {13, "WARN"};
    case LogLevel::error:
      return {17, "ERROR"};
  }
  return {17, "ERROR"};
}

// Durations are numbers of seconds.
void append_field_value(std::string& out, const LogField::Value& value) {
  std::visit(
      [&](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string_view>) {
          out.append(R"("stringValue":)");
          append_text(out, held);
        } else if constexpr (std::is_same_v<Held, double>) {
          out.append(R"("doubleValue":)");
          append_double(out, held);
        } else if constexpr (std::is_same_v<Held, Duration>) {
          out.append(R"("doubleValue":)");
          append_double(out, std::chrono::duration<double>(held).count());
        } else {
          constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
          const bool fits = std::is_signed_v<Held> || static_cast<std::uint64_t>(held) <= largest;
          out.append(fits ? R"("intValue":)" : R"("stringValue":)");
          append_int64(out, held);
        }
      },
      value);
}

}  // namespace

std::string otlp_log(const LogEvent& event, const rpc::TraceContext& trace) {
  const Severity severity = severity_of(event.level);
  std::string out = R"({"timeUnixNano":)";
  append_int64(out, event.time.time_since_epoch().count());
  out.append(R"(,"observedTimeUnixNano":)");
  append_int64(out, event.time.time_since_epoch().count());
  out.append(R"(,"severityNumber":)");
  append_number(out, severity.number);
  out.append(R"(,"severityText":")").append(severity.text);
  out.append(R"(","body":{"stringValue":)");
  append_text(out, event.message);
  out.append(R"(},"attributes":[)");
  for (const LogField& field : event.fields) {
    append_comma(out);
    out.append(R"({"key":)");
    append_text(out, field.key());
    out.append(R"(,"value":{)");
    append_field_value(out, field.value());
    out.append("}}");
  }
  out.push_back(']');
  if (trace.is_valid()) {
    out.append(R"(,"flags":)").append(trace.is_sampled ? "1" : "0");
    out.append(R"(,"traceId":")").append(rpc::trace_id_text(trace));
    out.append(R"(","spanId":")").append(rpc::span_id_text(trace.span_id)).append("\"");
  }
  out.push_back('}');
  return out;
}

std::string otlp_logs(const OtlpResource& resource, std::span<const std::string> lines) {
  std::string out = R"({"resourceLogs":[{)";
  detail::otlp::append_resource(out, resource);
  out.append(R"(,"scopeLogs":[{"scope":{"name":"corolane"},"logRecords":[)");
  for (const std::string& line : lines) {
    append_comma(out);
    out.append(line);
  }
  return out.append("]}]}]}");
}

void OtlpLogQueue::take(const LogEvent& event) {
  const rpc::CallScope* const scope = rpc::CallScope::current();
  std::string line = otlp_log(event, scope == nullptr ? rpc::TraceContext{} : scope->trace);
  const std::scoped_lock lock(mutex_);
  if (lines_.size() >= line_count_max || bytes_ >= bytes_max) {
    ++dropped_count_;
    return;
  }
  bytes_ += line.size();
  lines_.push_back(std::move(line));
}

std::vector<std::string> OtlpLogQueue::drain() {
  const std::scoped_lock lock(mutex_);
  bytes_ = 0;
  return std::exchange(lines_, {});
}

std::uint64_t OtlpLogQueue::take_dropped_count() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(dropped_count_, 0);
}

}  // namespace corolane::framework
