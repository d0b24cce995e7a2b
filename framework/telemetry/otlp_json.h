// SPDX-License-Identifier: MIT
// Spans as the JSON of OTLP, the protocol of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
//
//   const std::vector<std::string> spans = {otlp_span(span, unix_offset)};
//   const std::string body = otlp_traces({.service_name = "chess"}, spans);
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

// The process that all of it comes from (https://opentelemetry.io/docs/specs/semconv/resource/).
struct OtlpResource {
  std::string service_name;            // That of the node.
  std::string service_namespace = {};  // The cluster.
  std::string service_version = {};
  std::string service_instance_id = {};
  std::string host_name = {};
};

// That of this process, with an instance id of its own: the name of the node may have belonged to
// an earlier process.
OtlpResource this_process(std::string node_name, std::string cluster_name);

// One span. Adding `unix_offset` to a time of the spans' clock gives the time since the Unix epoch.
std::string otlp_span(const rpc::SpanRecord& span, std::chrono::nanoseconds unix_offset);

// The body of a request with these spans.
std::string otlp_traces(const OtlpResource& resource, std::span<const std::string> spans);

}  // namespace corolane::framework
