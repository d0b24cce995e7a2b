// SPDX-License-Identifier: MIT
// Sends requests to a collector, by OTLP over HTTP with JSON
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp), inside TLS for https://.
//
//   OtlpTransport transport(network, {.endpoint = {.host = {"127.0.0.1", 4318}}});
//   if (auto opened = transport.open("Authorization: Bearer 6f1d\n"); !opened) return opened;
//   const OtlpAnswer answer = transport.post("/v1/traces", body);
//   if (!answer.outcome) return answer.outcome;
//
// TLS verifies the certificate of the collector, for the name that it is reached by. Values of
// headers are secrets: no message shows them. Belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "framework/telemetry/telemetry_config.h"
#include "net/http/http.h"
#include "net/network.h"
#include "net/tls/tls.h"

namespace corolane::framework {

class Log;

// What became of a request, and whether and when to send it again.
struct OtlpAnswer {
  Result<void> outcome = {};
  bool may_pass = false;  // It has failed, and the same request may succeed later.
  // The delay that the collector asks for; zero when it names none.
  std::chrono::milliseconds retry_after{0};
  // Of a request that was accepted in part: how much was not, and why, in the collector's words.
  std::uint64_t rejected_count = 0;
  std::string message = {};
};

class OtlpTransport {
 public:
  struct Options {
    OtlpEndpoint endpoint;
    net::TlsOptions tls = {};  // For an endpoint with TLS.
    bool gzip = false;
    std::chrono::milliseconds request_time_max{10'000};
  };

  // `network` outlives it.
  OtlpTransport(net::Network& network, Options options);
  OtlpTransport(const OtlpTransport&) = delete;
  OtlpTransport& operator=(const OtlpTransport&) = delete;

  // Takes the headers, `Name: value` in each line, and reads the files of TLS. Before the first
  // request. Fails with invalid_argument for a line that is no header, naming its number alone, and
  // as net::TlsContext::load().
  Result<void> open(std::string_view headers);

  // The same again at run time, in two steps: the first may fail, the second applies to the
  // requests that begin afterwards.
  Result<void> prepare_change(std::string_view headers);
  void change();

  // Sends one request and waits for the answer. Suspends. An error says what to do about it.
  OtlpAnswer post(std::string_view path, const std::string& body);

  // "collector.example:4318".
  const std::string& name() const { return name_; }

 private:
  net::Network& network() { return tls_ == nullptr ? inner_ : *tls_; }
  Error unreachable(const Error& error) const;
  Error refused(const net::HttpResponse& response, std::string_view path) const;

  net::Network& inner_;
  const Options options_;
  const std::string name_;
  net::HttpHeaders headers_;
  std::unique_ptr<net::TlsContext> context_;
  std::unique_ptr<net::TlsNetwork> tls_;  // Null without TLS.
  std::function<void()> prepared_;
};

// The transport of a valid configuration; null when its endpoint is not one.
std::unique_ptr<OtlpTransport> make_otlp_transport(const OtlpConfig& config, net::Network& network);

// Functions that log what an exporter has to tell (OtlpExporter::Options): `what` is "spans". `log`
// and `transport` outlive them.
std::function<void(const Result<void>&)> tell_of_collector(Log& log, const OtlpTransport& transport,
                                                           std::string_view what);
std::function<void(std::uint64_t, const std::string&)> tell_of_rejected(
    Log& log, const OtlpTransport& transport, std::string_view what);

}  // namespace corolane::framework
