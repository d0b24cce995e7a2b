// SPDX-License-Identifier: MIT
// Serves HTTP/1.1: keep-alive, pipelining, one task per request.
//
//   HttpServer server(network, [](const HttpRequest& request) {
//     return HttpResponse{.body = "hello " + std::string(request.path())};
//   });
//   auto endpoint = server.listen({"127.0.0.1", 8080});
//   ...
//   server.stop(Deadline::after(5s));
//
// Requests are read on the loop's stack, so that an idle connection, half a request and a refused
// one cost no coroutine. A message that is not HTTP gets a 400, one above the limits a 408, 413 or
// 431, an unknown coding or version a 501 or 505, and the connection ends. A peer that disconnects
// cancels the task of its request. So does one that has finished sending, a second later: it may
// wait for the answer, which is sent if it reads.
//
// An HttpService (http_exchange.h) decides for each request whether it gets a task.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task_info.h"
#include "net/connection_bound.h"
#include "net/http/http.h"
#include "net/http/http_exchange.h"
#include "net/network.h"

namespace corolane::net {

// Answers like HttpHandler, but into a reused response: `response` arrives reset, and keeps the
// memory of its strings and headers from one request to the next.
using HttpFiller = std::function<void(const HttpRequest& request, HttpResponse& response)>;

class HttpServer {
 public:
  struct Options {
    HttpOptions limits = {};
    std::size_t connection_count_max = 16'384;  // More wait in the backlog of the listener.
    // At that count a new connection evicts the one that has been without a request for the longest
    // time, so that idle connections cannot exhaust the places. Half a request does not count. When
    // all connections have a request, the server evicts the one whose peer has kept an answer
    // waiting for longest; a connection whose answer is still being made keeps its place.
    bool evicts_idle = false;
    // Replaces that bound, and bounds each address as well: a connection without a place gets a 503
    // and is closed. Outlives the server.
    ConnectionBound* connections = nullptr;
    // Counts what the connections hold: see StreamOptions. Outlives the server.
    ByteBudget* budget = nullptr;
    // A connection that has pipelined more bytes while an earlier request is served is not read
    // until that is answered. Meanwhile the server does not notice that the peer has finished.
    std::size_t pipelined_bytes_max = 16 * 1024;
    bool sends_date = true;  // RFC 9110, 6.6.1: a server that has a clock sends it.
    // For the tasks that run a handler, and for those that accept.
    coroutine::TaskOptions task = {};
  };

  struct Statistics {
    std::uint64_t connection_count = 0;
    std::uint64_t accepted_count = 0;
    std::uint64_t refused_connection_count = 0;  // No place was left.
    std::uint64_t request_count = 0;             // Read completely.
    std::uint64_t refused_count = 0;  // Requests that could not be read, or got no stack.
    std::uint64_t serving_count = 0;  // Requests that await their answer.
  };

  HttpServer(Network& network, HttpHandler handler)
      : HttpServer(network, std::move(handler), Options{}) {}
  // `network` outlives the server. An exception from the handler becomes a 500.
  HttpServer(Network& network, HttpHandler handler, const Options& options);
  HttpServer(Network& network, HttpFiller filler, const Options& options);
  // `service` outlives the server.
  HttpServer(Network& network, HttpService& service, const Options& options);
  // Stops at once: cancels all tasks and suspends until they have ended.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Starts to accept; returns the endpoint with the actual port. May be called for several
  // endpoints. Servers on other threads may share the port: ListenOptions. Fails as
  // Network::listen() does, and with resource_exhausted without a stack to accept on. Never
  // suspends.
  Result<Endpoint> listen(const Endpoint& endpoint, bool shares_port = false);

  // Replaces the value in Options from now on; open connections stay.
  void set_connection_count_max(std::size_t count);

  // Stops accepting, closes idle connections, and suspends until all requests read so far are
  // answered; at the deadline it tells them that their clients have left, waits for the answers and
  // fails with deadline_exceeded. Then it sends the queued output, for at most half a second, and
  // closes. Fails with failed_precondition, doing nothing, in a handler, for which it would wait.
  Result<void> stop(Deadline deadline);

  Statistics statistics() const;

  struct ConnectionView {
    const Stream& stream;
    bool is_serving = false;
    std::uint64_t answered_count = 0;
  };
  // Visits all connections, in any order; `see` must not suspend.
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
