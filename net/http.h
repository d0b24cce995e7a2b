// HTTP/1.1 over a linear Stream, for servers and clients.
//
// Boost.Beast in its synchronous form does the protocol, hidden in http.cc; each connection is
// served by one task that reads as straight-line code. Bounds are in HttpOptions.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/network.h"
#include "net/stream.h"

namespace corolane::net {

struct HttpOptions {
  std::size_t header_bytes_max = 8 * 1024;
  std::size_t body_bytes_max = 1024 * 1024;
  std::chrono::seconds request_time_max{10};  // From its first byte to its last.
  std::chrono::seconds idle_time_max{60};     // Between two requests of a connection.
};

struct HttpRequest {
  std::string method;  // "GET", upper case.
  std::string target;  // "/stats?format=json": path and query as sent.
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  std::string_view path() const;             // "/stats".
  std::string_view query(std::string_view key) const;   // "json" for "format"; "" when missing.
  std::string_view header(std::string_view name) const; // Case does not matter; "" when missing.
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
};

using HttpHandler = std::function<HttpResponse(const HttpRequest& request)>;

// Serves requests of one connection, one after the other (keep-alive), until the peer ends it, a
// limit is passed or the task is cancelled. A request that is no HTTP gets a 400, one above the
// limits 413 or 431, and the connection ends. Suspends. An exception of the handler is a 500.
Result<void> serve_http(Stream& stream, const HttpHandler& handler, const HttpOptions& options = {});

// Sends one request on a new connection and reads the response. Suspends. Statuses of 400 and
// more are a response, not an Error.
Result<HttpResponse> fetch_http(Network& network, const HostPort& host, const HttpRequest& request,
                                Deadline deadline, const HttpOptions& options = {});

}  // namespace corolane::net
