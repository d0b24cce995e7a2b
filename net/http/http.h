// SPDX-License-Identifier: MIT
// HTTP/1.1: the types that servers (http_server.h) and clients share, and a minimal client.
//
//   auto response = fetch_http(network, {"metrics.example", 80}, {.target = "/health"}, deadline);
//   if (!response) return response.error();
//   if (response->status != 200) return Error(Code::unavailable, response->body);
//
// Boost.Beast parses, hidden in detail/. HttpOptions holds the bounds.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/http/http_headers.h"
#include "net/network.h"
#include "net/stream.h"

namespace corolane::net {

struct HttpOptions {
  std::size_t header_bytes_max = 8 * 1024;
  std::size_t body_bytes_max = 1024 * 1024;
  // From a request's first byte to its last.
  std::chrono::milliseconds request_time_max = std::chrono::seconds(10);
  // The longest pause between two requests of a connection.
  std::chrono::milliseconds idle_time_max = std::chrono::seconds(60);
  // The longest time that a peer takes to receive a response.
  std::chrono::milliseconds response_time_max = std::chrono::seconds(60);
};

struct HttpRequest {
  std::string method = "GET";  // As sent.
  std::string target = "/";    // "/stats?format=json": path and query as sent.
  std::string body = {};
  HttpHeaders headers = {};
  // Set by a server: the peer that sent the request, "10.1.0.7:52310", and its identity by the
  // certificate that TLS has verified.
  std::string_view peer = {};
  std::string_view peer_identity = {};
  bool is_of_newcomer = true;  // Its address holds little: see AddressShares.

  std::string_view path() const;                         // "/stats".
  std::string_view query(std::string_view key) const;    // "json" for "format"; "" when missing.
  std::string_view header(std::string_view name) const;  // Ignores case; "" when missing.
};

// `headers` holds neither Content-Length, Connection, Transfer-Encoding nor Content-Type: they
// follow from the other fields.
struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  HttpHeaders headers = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Whether the list of a header, such as "br;q=1.0, gzip;q=0.8", has a word. A weight of zero, which
// forbids it, is rare enough to send what such a client may have to refuse.
bool is_listed(std::string_view list, std::string_view word);

// Sends one request on a new connection and reads the response. Suspends. A status of 400 or more
// is a response, not an Error. Fails with invalid_argument when the request cannot be written as
// HTTP, with resource_exhausted when the response is above the limits, and as connect_to() and
// Stream do; after the request was sent, with maybe_executed() set.
Result<HttpResponse> fetch_http(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options = {});

}  // namespace corolane::net
