// SPDX-License-Identifier: MIT
// Spans as the JSON of OTLP, the protocol of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
//
//   const std::vector<std::string> spans = {otlp_span(span, unix_offset)};
//   const std::string body = otlp_request({.service_name = "chess"}, spans);
//
// The encoding is protobuf's JSON, but with ids in hexadecimal digits and enums as numbers; 64-bit
// numbers are strings.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "rpc/observe/span.h"

namespace corolane::framework {

// The process that the spans come from (https://opentelemetry.io/docs/specs/semconv/resource/).
struct OtlpResource {
  std::string service_name;
  std::string service_version = {};
  std::string service_instance_id = {};
};

// One span. Adding `unix_offset` to a time of the spans' clock gives the time since the Unix epoch.
std::string otlp_span(const rpc::SpanRecord& span, std::chrono::nanoseconds unix_offset);

// The body of a request with these spans.
std::string otlp_request(const OtlpResource& resource, std::span<const std::string> spans);

}  // namespace corolane::framework
