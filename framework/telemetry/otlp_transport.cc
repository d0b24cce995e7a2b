// SPDX-License-Identifier: MIT
#include "framework/telemetry/otlp_transport.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "coroutine/base/text.h"
#include "framework/telemetry/log.h"
#include "net/http/gzip.h"

namespace corolane::framework {
namespace {

using nlohmann::json;

constexpr std::string_view headers_key = "node.otlp.headers_file";
// What is shown of an answer.
constexpr std::size_t shown_answer_bytes_max = 200;
constexpr std::size_t header_count_max = 32;

// The statuses that the specification calls retryable; all others would be refused again.
bool may_pass(unsigned status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

// The seconds of Retry-After; zero, which means our own delay, when it names a date instead.
std::chrono::milliseconds retry_after_of(const net::HttpResponse& response) {
  std::uint32_t seconds = 0;
  const std::string_view text = response.headers.find("Retry-After");
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return std::chrono::seconds(seconds);
}

std::uint64_t count_of(const json& count) {
  if (count.is_number_unsigned()) return count.get<std::uint64_t>();
  if (!count.is_string()) return 0;
  const auto& text = count.get_ref<const std::string&>();
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// What a collector says about a request that it has accepted, in part at least.
OtlpAnswer otlp_accepted(const std::string& body) {
  OtlpAnswer answer;
  const json root = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || !root.contains("partialSuccess")) return answer;
  const json& partial = root["partialSuccess"];
  if (!partial.is_object()) return answer;
  for (const char* name : {"rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"}) {
    if (partial.contains(name)) answer.rejected_count = count_of(partial[name]);
  }
  if (partial.contains("errorMessage") && partial["errorMessage"].is_string()) {
    answer.message =
        cut_utf8(partial["errorMessage"].get_ref<const std::string&>(), shown_answer_bytes_max);
  }
  return answer;
}

// What an operator does about a status; empty for those that pass by themselves.
std::string advice_for(unsigned status, std::string_view path) {
  switch (status) {
    case 401:
    case 403:
      return "; put its token into " + std::string(headers_key) +
             ", as a line `Authorization: Bearer TOKEN`";
    case 404:
    case 405:
      return "; it takes nothing at " + std::string(path) +
             ": let node.otlp.endpoint name its OTLP receiver for HTTP, usually at port 4318";
    case 413:
      return "; let it take larger requests, 4 MiB for example";
    case 415:
      return "; let it take JSON, or put an OpenTelemetry collector in between";
    default:
      return {};
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

bool is_of_the_request(std::string_view name) {
  constexpr std::string_view names[] = {"Content-Type", "Content-Encoding", "Content-Length",
                                        "Host",         "Connection",       "Transfer-Encoding"};
  return std::ranges::any_of(names, [&](auto own) { return net::is_same_name(own, name); });
}

// Empty lines and those that begin with # are skipped.
Result<net::HttpHeaders> parse_headers(std::string_view text) {
  net::HttpHeaders headers;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const auto wrong = [&](const char* reason) {
      return Error(Code::invalid_argument,
                   std::string(headers_key) + ": line " + std::to_string(number) + " " + reason);
    };
    const std::size_t colon = line.find(':');
    const std::string_view name = trimmed(line.substr(0, colon));
    if (colon == line.npos || !is_header_name(name)) {
      return wrong("is no header; write `Name: value`");
    }
    if (is_of_the_request(name)) return wrong("is a header that each request has already");
    if (headers.size() == header_count_max) return wrong("is one header too many: 32 may be sent");
    headers.add(name, trimmed(line.substr(colon + 1)));
  }
  return headers;
}

}  // namespace

OtlpTransport::OtlpTransport(net::Network& network, Options options)
    : inner_(network),
      options_(std::move(options)),
      name_(
          net::to_string(net::Endpoint{options_.endpoint.host.host, options_.endpoint.host.port})) {
}

Result<void> OtlpTransport::open(std::string_view headers) {
  auto parsed = parse_headers(headers);
  if (!parsed) return parsed.error();
  headers_ = *std::move(parsed);
  if (!options_.endpoint.is_tls) return {};
  auto context = net::TlsContext::load(options_.tls);
  if (!context) return std::move(context.error()).with_context("node.otlp.tls");
  context_ = *std::move(context);
  tls_ = std::make_unique<net::TlsNetwork>(inner_, *context_);
  return {};
}

Result<void> OtlpTransport::prepare_change(std::string_view headers) {
  prepared_ = nullptr;
  auto parsed = parse_headers(headers);
  if (!parsed) return parsed.error();
  std::function<void()> change_files;
  if (context_ != nullptr) {
    auto prepared = context_->prepare_reload();
    if (!prepared) return std::move(prepared.error()).with_context("node.otlp.tls");
    change_files = *std::move(prepared);
  }
  prepared_ = [this, headers = *std::move(parsed), change_files = std::move(change_files)] {
    headers_ = headers;
    if (change_files) change_files();
  };
  return {};
}

void OtlpTransport::change() {
  if (prepared_) std::exchange(prepared_, nullptr)();
}

OtlpAnswer OtlpTransport::post(std::string_view path, const std::string& body) {
  net::HttpRequest request{.method = "POST",
                           .target = options_.endpoint.path + std::string(path),
                           .body = {},
                           .headers = {{"Content-Type", "application/json"}}};
  if (options_.gzip) {
    net::gzip(body, request.body);
    request.headers.add("Content-Encoding", "gzip");
  } else {
    request.body = body;
  }
  for (const auto& [name, value] : headers_) request.headers.add(name, value);
  const auto response = net::fetch_http(network(), options_.endpoint.host, request,
                                        Deadline::after(options_.request_time_max));
  if (!response) {
    // It is safe to send the same again: spans have ids, and sums replace one another.
    const Code code = response.error().code();
    return {.outcome = unreachable(response.error()),
            .may_pass = code != Code::invalid_argument && code != Code::resource_exhausted};
  }
  if (response->status >= 200 && response->status < 300) return otlp_accepted(response->body);
  return {.outcome = refused(*response, request.target),
          .may_pass = may_pass(response->status),
          .retry_after = retry_after_of(*response)};
}

Error OtlpTransport::unreachable(const Error& error) const {
  std::string message = error.message();
  const auto& host = options_.endpoint.host;
  if (error.code() == Code::unauthenticated) {
    message += "; let node.otlp.tls.ca_file be the CA that has signed the certificate of " +
               host.host + ", which must be for that name";
  } else if (error.code() == Code::unavailable && error.maybe_executed()) {
    message += "; is that an OTLP receiver for HTTP, usually at port 4318, and does it speak TLS?";
  } else if (error.code() == Code::unavailable) {
    message += options_.endpoint.is_tls
                   ? "; does a collector with TLS listen at node.otlp.endpoint?"
                   : "; does a collector without TLS listen at node.otlp.endpoint?";
  }
  return Error(error.code(), std::move(message));
}

Error OtlpTransport::refused(const net::HttpResponse& response, std::string_view path) const {
  std::string message = "the collector answers with status " + std::to_string(response.status);
  const std::string_view said = trimmed(cut_utf8(response.body, shown_answer_bytes_max));
  if (!said.empty()) message += ", " + quote(said);
  message += advice_for(response.status, path);
  return Error(may_pass(response.status) ? Code::unavailable : Code::invalid_argument,
               std::move(message));
}

std::unique_ptr<OtlpTransport> make_otlp_transport(const OtlpConfig& config,
                                                   net::Network& network) {
  auto endpoint = parse_otlp_endpoint(config.endpoint);
  if (!endpoint) return nullptr;
  return std::make_unique<OtlpTransport>(
      network, OtlpTransport::Options{.endpoint = *std::move(endpoint),
                                      .tls = {.certificate_file = config.tls.certificate_file,
                                              .key_file = config.tls.key_file,
                                              .ca_file = config.tls.ca_file},
                                      .gzip = config.gzip});
}

std::function<void(const Result<void>&)> tell_of_collector(Log& log, const OtlpTransport& transport,
                                                           std::string_view what) {
  return [&log, &transport, what = std::string(what)](const Result<void>& outcome) {
    if (outcome) {
      return log.info("collector accepts " + what + " again", {{"collector", transport.name()}});
    }
    log.warning(
        "collector accepts no " + what + "; they are queued, within bounds, and then dropped",
        {{"collector", transport.name()}, {"error", outcome.error().message()}});
  };
}

std::function<void(std::uint64_t, const std::string&)> tell_of_rejected(
    Log& log, const OtlpTransport& transport, std::string_view what) {
  return [&log, &transport, what = std::string(what)](std::uint64_t count,
                                                      const std::string& message) {
    log.warning("collector accepts " + what + " in part",
                {{"collector", transport.name()}, {"rejected", count}, {"message", message}});
  };
}

}  // namespace corolane::framework
