// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_json.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "coroutine/base/encoding.h"
#include "framework/telemetry/detail/otlp_text.h"
#include "framework/telemetry/version.h"
#include "net/crypto.h"

namespace corolane::framework {
namespace {

using detail::otlp::append_double;
using detail::otlp::append_int64;
using detail::otlp::append_number;
using detail::otlp::append_text;
using std::chrono::nanoseconds;

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
          append_double(out, held);
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

std::string random_instance_id() {
  std::array<std::byte, 16> bytes;
  net::fill_with_random_bytes(bytes);
  return to_hex(bytes);
}

std::string host_name() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

OtlpResource this_process(std::string node_name, std::string cluster_name) {
  return {.service_name = std::move(node_name),
          .service_namespace = std::move(cluster_name),
          .service_version = std::string(version()),
          .service_instance_id = random_instance_id(),
          .host_name = host_name()};
}

namespace detail::otlp {

void append_resource(std::string& out, const OtlpResource& resource) {
  const std::initializer_list<std::pair<std::string_view, const std::string&>> attributes = {
      {"service.name", resource.service_name},
      {"service.namespace", resource.service_namespace},
      {"service.version", resource.service_version},
      {"service.instance.id", resource.service_instance_id},
      {"host.name", resource.host_name}};
  out.append(R"("resource":{"attributes":[)");
  for (const auto& [key, value] : attributes) {
    if (value.empty()) continue;
    append_comma(out);
    append_text_attribute(out, key, value);
  }
  out.append("]}");
}

}  // namespace detail::otlp

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

std::string otlp_traces(const OtlpResource& resource, std::span<const std::string> spans) {
  std::string out = R"({"resourceSpans":[{)";
  detail::otlp::append_resource(out, resource);
  out.append(R"(,"scopeSpans":[{"scope":{"name":"corolane"},"spans":[)");
  for (const std::string& span : spans) {
    detail::otlp::append_comma(out);
    out.append(span);
  }
  return out.append("]}]}]}");
}

}  // namespace corolane::framework
