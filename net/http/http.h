// HTTP/1.1: what servers (http_server.h) and clients have in common, and a client of few words.
//
// Boost.Beast parses, hidden in detail/. Bounds are in HttpOptions.
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
  // Between two requests of a connection.
  std::chrono::milliseconds idle_time_max = std::chrono::seconds(60);
  // Until a peer has taken a response.
  std::chrono::milliseconds response_time_max = std::chrono::seconds(60);
};

struct HttpRequest {
  std::string method = "GET";  // As sent.
  std::string target = "/";    // "/stats?format=json": path and query as sent.
  std::string body = {};
  HttpHeaders headers = {};
  // Of one that a server has read: who sent it, "10.1.0.7:52310", and who that is by the
  // certificate that TLS has verified.
  std::string_view peer = {};
  std::string_view peer_identity = {};
  bool is_of_newcomer = true;  // Whose address holds little: see AddressShares.

  std::string_view path() const;                         // "/stats".
  std::string_view query(std::string_view key) const;    // "json" for "format"; "" when missing.
  std::string_view header(std::string_view name) const;  // Case does not matter; "" when missing.
};

// Content-Length, Connection and Transfer-Encoding follow from the rest and are left out of
// `headers`, as is Content-Type.
struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  HttpHeaders headers = {};
};

using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Sends one request on a new connection and reads the response. Suspends. Statuses of 400 and
// more are a response, not an Error. Fails with invalid_argument when the request cannot be
// written as HTTP, with resource_exhausted when the response is above the limits, and as
// connect_to() and Stream do; after the request was sent, with maybe_executed() set.
Result<HttpResponse> fetch_http(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options = {});

}  // namespace corolane::net
