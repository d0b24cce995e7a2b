// SPDX-License-Identifier: MIT
// The settings of what a node reports: node.otlp, node.tracing and node.call_log.
//
//   const OtlpConfig otlp{.endpoint = "https://collector.example:4318", .metrics = true};
//   auto endpoint = parse_otlp_endpoint(otlp.endpoint);
//   if (!endpoint) return endpoint.error();
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/result.h"
#include "net/endpoint.h"

namespace corolane::config {
class Section;
}

namespace corolane::framework {

// TLS towards a collector, for an endpoint that begins with https://.
struct OtlpTlsConfig {
  std::string ca_file = {};  // Empty: the CAs that the system trusts.
  std::string certificate_file = {};
  std::string key_file = {};
};

// What goes to a collector, by OTLP over HTTP.
struct OtlpConfig {
  std::string endpoint = {};      // Empty: nothing is sent.
  std::string headers_file = {};  // "Name: value", one a line.
  bool gzip = false;
  bool traces = true;
  bool metrics = false;
  Duration metrics_interval = std::chrono::seconds(10);
  bool logs = false;
  OtlpTlsConfig tls = {};
};

struct TracingConfig {
  double sample_ratio = 0.01;
};

struct CallLogConfig {
  bool errors = true;
  Duration slow_after = std::chrono::seconds(1);
  std::uint64_t one_in = 0;
  std::uint32_t lines_per_second_max = 20;
};

void describe(config::Section& section, OtlpTlsConfig& value);
void describe(config::Section& section, OtlpConfig& value);
void describe(config::Section& section, TracingConfig& value);
void describe(config::Section& section, CallLogConfig& value);

// Where a collector listens.
struct OtlpEndpoint {
  net::HostPort host;
  bool is_tls = false;
  std::string path = {};  // In front of "/v1/traces": empty, or "/otlp".
};

// Reads "https://host:port/path", "http://host:port" or "host:port", which is without TLS. The port
// is 4318 unless the text says otherwise. Fails with invalid_argument.
Result<OtlpEndpoint> parse_otlp_endpoint(std::string_view text);

// Makes the checks of a load.
Result<void> check_otlp(const OtlpConfig& config);

}  // namespace corolane::framework
