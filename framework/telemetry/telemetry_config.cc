// SPDX-License-Identifier: MIT
#include "framework/telemetry/telemetry_config.h"

#include <algorithm>
#include <utility>

#include "config/section.h"
#include "coroutine/base/text.h"

namespace corolane::framework {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view default_port = "4318";
constexpr std::string_view endpoint_words =
    "https://host:port, http://host:port, host:port, or nothing";

Error not_an_endpoint(std::string_view text, const std::string& reason) {
  return Error(Code::invalid_argument, quote(text) + " is no address of a collector: " + reason +
                                           "; write https://collector.example:4318");
}

bool has_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::size_t bracket = host.rfind(']');
  if (bracket != host.npos) return colon != host.npos && colon > bracket;
  return colon != host.npos;
}

Result<void> check_endpoint(const std::string& text) {
  if (text.empty()) return {};
  auto endpoint = parse_otlp_endpoint(text);
  if (!endpoint) return endpoint.error();
  return {};
}

bool is_on_this_machine(const net::HostPort& host) {
  return host.host == "localhost" || host.host == "::1" || host.host.starts_with("127.") ||
         net::is_unix({.address = host.host, .port = host.port});
}

}  // namespace

Result<OtlpEndpoint> parse_otlp_endpoint(std::string_view text) {
  OtlpEndpoint endpoint;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    endpoint.is_tls = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.contains("://")) {
    return not_an_endpoint(text, "OTLP goes over http or https");
  }
  const bool is_socket = rest.starts_with("unix:");
  if (const std::size_t slash = is_socket ? rest.npos : rest.find('/'); slash != rest.npos) {
    endpoint.path = rest.substr(slash);
    rest = rest.substr(0, slash);
    while (endpoint.path.ends_with('/')) endpoint.path.pop_back();
    if (endpoint.path.ends_with("/v1/traces")) {
      return not_an_endpoint(text, "leave out /v1/traces, which is added for each signal");
    }
    if (endpoint.path.find_first_of(" ?#") != std::string::npos) {
      return not_an_endpoint(text, "a path is all that may follow the port");
    }
  }
  std::string host(rest);
  if (!host.empty() && !is_socket && !has_port(host)) host.append(":").append(default_port);
  if (!is_socket && host.find_first_of(" \t@") != std::string::npos) {
    return not_an_endpoint(text, "a host has no blanks, and headers belong in a file");
  }
  auto parsed = net::parse_host_port(host);
  if (!parsed) return not_an_endpoint(text, parsed.error().message());
  endpoint.host = *std::move(parsed);
  return endpoint;
}

Result<void> check_otlp(const OtlpConfig& config) {
  const auto wrong = [](std::string message) {
    return Error(Code::invalid_argument, std::move(message));
  };
  const bool has_tls_files = !config.tls.ca_file.empty() || !config.tls.certificate_file.empty() ||
                             !config.tls.key_file.empty();
  if (config.endpoint.empty()) {
    if (!config.metrics && !config.logs && config.headers_file.empty() && !has_tls_files) return {};
    return wrong(
        "without node.otlp.endpoint nothing is sent: set it to the address of a collector, such as "
        "https://collector.example:4318");
  }
  auto endpoint = parse_otlp_endpoint(config.endpoint);
  if (!endpoint) return endpoint.error();
  if (config.tls.certificate_file.empty() != config.tls.key_file.empty()) {
    return wrong("a certificate and its key are set together");
  }
  if (has_tls_files && !endpoint->is_tls) {
    return wrong(
        "node.otlp.tls is of no use without TLS: let node.otlp.endpoint begin with "
        "https://");
  }
  if (!config.headers_file.empty() && !endpoint->is_tls && !is_on_this_machine(endpoint->host)) {
    return wrong(
        "without TLS others can read the headers: let node.otlp.endpoint begin with "
        "https://, or send to a collector on this machine");
  }
  return {};
}

void describe(config::Section& section, OtlpTlsConfig& value) {
  section.field("ca_file", value.ca_file,
                "The CA that signs the certificate of the collector, PEM; empty: the system's.");
  section.field("certificate_file", value.certificate_file,
                "The certificate that this node shows, PEM, with its chain; empty: none.");
  section.field("key_file", value.key_file, "Its key, PEM without a pass phrase.");
}

void describe(config::Section& section, OtlpConfig& value) {
  section.field("endpoint", value.endpoint,
                "The collector, by OTLP over HTTP with JSON: https://host:4318, or host:4318 "
                "without TLS; a path may follow. Empty: nothing is sent.",
                config::where(check_endpoint, endpoint_words));
  section.field("headers_file", value.headers_file,
                "A file with headers for the collector, `Name: value` in each line, such as its "
                "token; a reload reads it again. Empty: none.");
  section.field("gzip", value.gzip,
                "Whether requests are compressed, which costs a shard some milliseconds each.");
  section.field("traces", value.traces, "Whether the spans of sampled calls are sent.");
  section.field("metrics", value.metrics, "Whether the metrics of /metrics are sent.");
  section.field("metrics_interval", value.metrics_interval, "How often metrics are sent.",
                config::between(1s, 1h));
  section.field("logs", value.logs, "Whether the lines of the log are sent.");
  section.field("tls", value.tls, "TLS towards the collector.");
  section.rule({"endpoint", "headers_file", "tls.ca_file", "tls.certificate_file", "tls.key_file",
                "metrics", "logs"},
               [&value] { return check_otlp(value); });
}

void describe(config::Section& section, TracingConfig& value) {
  section.field(
      "sample_ratio", value.sample_ratio,
      "The share of calls that begin a trace here; callers decide about their own traces.",
      config::between(0.0, 1.0), config::live);
  section.moved("collector", "node.otlp.endpoint");
}

void describe(config::Section& section, CallLogConfig& value) {
  section.field("errors", value.errors,
                "Whether calls that fail through the node's fault are logged.", config::live);
  section.field("slow_after", value.slow_after, "Calls that take longer are logged.", config::live);
  section.field("one_in", value.one_in,
                "One in this many of all other calls is logged; 0 for none.", config::live);
  section.field("lines_per_second_max", value.lines_per_second_max,
                "The most lines about calls; further ones are only counted.", config::live);
}

}  // namespace corolane::framework
