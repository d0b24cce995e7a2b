// SPDX-License-Identifier: MIT
// Sends one HTTP request after the other over a persistent connection.
//
//   HttpClient client(network, {.host = "10.0.0.5", .port = 2379});
//   auto response = client.fetch({.method = "POST", .target = "/v3/kv/range", .body = key},
//   deadline);
//
// One request is in flight at a time, others wait for their turn: first come, first served. A
// caller that wants several at once uses several clients. HttpLines (http_lines.h) reads endless
// responses; fetch_http() is for a single request.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <memory>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/mutex.h"
#include "net/http/http.h"
#include "net/network.h"

namespace corolane::net {

class HttpClient {
 public:
  // `network` outlives it. Connects on the first request.
  HttpClient(Network& network, HostPort host, const HttpOptions& options = {});
  // Closes the connection. No task may be inside fetch().
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Suspends until it is the request's turn and its response is there. Fails as fetch_http() does,
  // with maybe_executed() set once something of the request was sent.
  //
  // A connection that was idle for `idle_time_max`, or whose server is known to have ended it, is
  // replaced before anything is sent. A server may also end it while the request is on its way; the
  // client then cannot tell whether the request was read. When a connection that had served before
  // brings nothing of a response, the request is retried once if HTTP calls its method idempotent
  // (RFC 9110, 9.2.2: GET, HEAD, OPTIONS, TRACE, PUT, DELETE); any other fails with unavailable and
  // maybe_executed(), and the decision is the caller's.
  Result<HttpResponse> fetch(const HttpRequest& request, Deadline deadline);

 private:
  class Connection;

  // Drops the kept connection when it is no longer usable.
  void drop_stale_connection();
  // Whether the connection broke before anything of a response came.
  bool is_unanswered(const Result<HttpResponse>& response) const;
  Result<HttpResponse> attempt(const HttpRequest& request, const std::string& text,
                               Deadline deadline);

  Network& network_;
  const HostPort host_;
  const HttpOptions options_;
  std::unique_ptr<Connection> connection_;  // Used by the last request, if it is kept.
  coroutine::Mutex turn_;
};

}  // namespace corolane::net
