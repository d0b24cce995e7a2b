// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "coroutine/base/encoding.h"
#include "coroutine/base/text.h"

namespace corolane::framework {
namespace {

using std::chrono::nanoseconds;

// A collector would refuse the whole batch for text that is not UTF-8.
void append_text(std::string& out, std::string_view text) {
  if (!is_utf8(text)) return append_text(out, to_utf8(text));
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (static_cast<unsigned char>(c) < 0x20) {
      append_hex(out.append("\\u00"), static_cast<std::uint8_t>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

template <typename T>
void append_number(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end.ptr);
}

void append_int64(std::string& out, std::int64_t value) {
  out.push_back('"');
  append_number(out, value);
  out.push_back('"');
}

void append_value(std::string& out, const rpc::SpanRecord::Value& value) {
  std::visit(
      [&](const auto& held) {
        using Held = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          out.append(held ? R"({"boolValue":true})" : R"({"boolValue":false})");
        } else if constexpr (std::is_same_v<Held, std::int64_t>) {
          out.append(R"({"intValue":)");
          append_int64(out, held);
          out.push_back('}');
        } else if constexpr (std::is_same_v<Held, double>) {
          out.append(R"({"doubleValue":)");
          if (std::isnan(held)) {
            out.append(R"("NaN")");
          } else if (std::isinf(held)) {
            out.append(held > 0 ? R"("Infinity")" : R"("-Infinity")");
          } else {
            append_number(out, held);
          }
          out.push_back('}');
        } else {
          out.append(R"({"stringValue":)");
          append_text(out, held);
          out.push_back('}');
        }
      },
      value);
}

void append_attribute(std::string& out, std::string_view key, const rpc::SpanRecord::Value& value) {
  out.append(R"({"key":)");
  append_text(out, key);
  out.append(R"(,"value":)");
  append_value(out, value);
  out.push_back('}');
}

void append_attributes(std::string& out, const rpc::SpanRecord::Attributes& attributes) {
  out.append(R"("attributes":[)");
  for (const auto& [key, value] : attributes) {
    if (out.back() != '[') out.push_back(',');
    append_attribute(out, key, value);
  }
  out.push_back(']');
}

void append_time(std::string& out, std::string_view key, TimePoint time, nanoseconds unix_offset) {
  out.push_back('"');
  out.append(key).append(R"(":)");
  append_int64(out, (time.time_since_epoch() + unix_offset).count());
}

void append_count(std::string& out, std::string_view key, std::uint32_t count) {
  if (count == 0) return;
  out.append(",\"").append(key).append(R"(":)");
  append_number(out, count);
}

void append_events(std::string& out, const rpc::SpanRecord& span, nanoseconds unix_offset) {
  if (span.events.empty()) return;
  out.append(R"(,"events":[)");
  for (const rpc::SpanRecord::Event& event : span.events) {
    if (out.back() != '[') out.push_back(',');
    out.push_back('{');
    append_time(out, "timeUnixNano", event.time, unix_offset);
    out.append(R"(,"name":)");
    append_text(out, event.name);
    out.push_back(',');
    append_attributes(out, event.attributes);
    out.push_back('}');
  }
  out.push_back(']');
}

void append_status(std::string& out, const rpc::SpanRecord& span) {
  if (!span.has_failed) return;
  constexpr std::string_view status_code_error = "2";
  out.append(R"(,"status":{"code":)").append(status_code_error).append(R"(,"message":)");
  append_text(out, span.failure);
  out.push_back('}');
}

}  // namespace

std::string otlp_span(const rpc::SpanRecord& span, nanoseconds unix_offset) {
  std::string out = R"({"traceId":")" + rpc::trace_id_text(span.context) + R"(","spanId":")" +
                    rpc::span_id_text(span.context.span_id) + '"';
  if (span.parent_span_id != 0) {
    out.append(R"(,"parentSpanId":")").append(rpc::span_id_text(span.parent_span_id)).append("\"");
  }
  out.append(R"(,"name":)");
  append_text(out, span.name);
  out.append(R"(,"kind":)");
  append_number(out, static_cast<unsigned>(span.kind));
  out.push_back(',');
  append_time(out, "startTimeUnixNano", span.start, unix_offset);
  out.push_back(',');
  append_time(out, "endTimeUnixNano", span.end, unix_offset);
  out.push_back(',');
  append_attributes(out, span.attributes);
  append_count(out, "droppedAttributesCount", span.dropped_attribute_count);
  append_events(out, span, unix_offset);
  append_count(out, "droppedEventsCount", span.dropped_event_count);
  append_status(out, span);
  out.push_back('}');
  return out;
}

std::string otlp_request(const OtlpResource& resource, std::span<const std::string> spans) {
  std::string out = R"({"resourceSpans":[{"resource":{)";
  append_attributes(out, {{"service.name", resource.service_name},
                          {"service.version", resource.service_version},
                          {"service.instance.id", resource.service_instance_id}});
  out.append(R"(},"scopeSpans":[{"scope":{"name":"corolane"},"spans":[)");
  for (const std::string& span : spans) {
    if (out.back() != '[') out.push_back(',');
    out.append(span);
  }
  return out.append("]}]}]}");
}

}  // namespace corolane::framework
