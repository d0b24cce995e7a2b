// Serves HTTP/1.1: keep-alive, pipelining, one task for the requests of a connection while there
// are any.
//
//   HttpServer server(network, [](const HttpRequest& request) {
//     return HttpResponse{.body = "hello " + std::string(request.path())};
//   });
//   auto endpoint = server.listen({"127.0.0.1", 8080});
//   ...
//   server.stop(Deadline::after(5s));
//
// Requests are read on the loop's stack, so that an idle connection, half a request and a refused
// one cost no coroutine. What is no HTTP gets a 400, what is above the limits a 408, 413 or 431,
// what is unknown a 501 or 505, and the connection ends. A peer that goes away, or has finished
// sending, cancels the task of its requests; it is answered nevertheless when it still reads.
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
#include "coroutine/task_options.h"
#include "net/address_shares.h"
#include "net/connection_bound.h"
#include "net/http/http.h"
#include "net/network.h"

namespace corolane::net {

// Answers like HttpHandler, into the memory of a response before: `response` is as a new one, but
// what its strings and headers have taken is not given back between two of them.
using HttpFiller = std::function<void(const HttpRequest& request, HttpResponse& response)>;

class HttpServer {
 public:
  struct Options {
    HttpOptions limits = {};
    std::size_t connection_count_max = 16'384;  // More wait in the backlog of the listener.
    // At that count a new connection takes the place of the one that has been without a request for
    // the longest time, so that strangers who hold connections shut nobody out. Half a request is
    // none. When all have one, the connection goes whose peer has let an answer wait for longest;
    // one whose answer is being made keeps its place.
    bool evicts_idle = false;
    // Bounds the connections in place of that, by address as well: one without a place is told 503
    // and closed. Outlives the server, as the next one does.
    ConnectionBound* connections = nullptr;
    // Counts the requests that are being served, by address; one above its share is a 503.
    AddressShares* requests = nullptr;
    // What a connection may send ahead while a request before it is served. The next one after
    // that is not read; the connection ends with the answers to what came before.
    std::size_t pipelined_bytes_max = 256 * 1024;
    bool sends_date = true;  // RFC 9110, 6.6.1: whoever has a clock does.
    // Of the tasks that run the handler, and of those that accept.
    coroutine::TaskOptions task = {};
  };

  struct Statistics {
    std::uint64_t connection_count = 0;
    std::uint64_t accepted_count = 0;
    std::uint64_t refused_connection_count = 0;  // Without a place.
    std::uint64_t request_count = 0;             // Read as a whole.
    std::uint64_t refused_count = 0;  // Requests that could not be read, or got no stack.
    std::uint64_t serving_count = 0;  // Connections with a request that is being answered.
  };

  HttpServer(Network& network, HttpHandler handler)
      : HttpServer(network, std::move(handler), Options{}) {}
  // `network` outlives the server. An exception of the handler is a 500.
  HttpServer(Network& network, HttpHandler handler, const Options& options);
  HttpServer(Network& network, HttpFiller filler, const Options& options);
  // Stops at once: cancels what runs and suspends until it has ended.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Starts to accept; returns the endpoint with the port that was chosen. May be called for
  // several endpoints. Fails as Network::listen() does, and with resource_exhausted without a stack
  // to accept on. Never suspends.
  Result<Endpoint> listen(const Endpoint& endpoint);

  // As in Options, from now on; connections that there are stay.
  void set_connection_count_max(std::size_t count);

  // Stops accepting, closes idle connections, and suspends until the requests that were read are
  // answered; at the deadline their tasks are cancelled, which is deadline_exceeded. Then it sends
  // what is queued, for at most half a second, and closes.
  Result<void> stop(Deadline deadline);

  Statistics statistics() const;

  struct ConnectionView {
    const Stream& stream;
    bool is_serving = false;
    std::uint64_t answered_count = 0;
  };
  // Shows all connections, in any order; `see` must not suspend.
  void for_each_connection(const std::function<void(const ConnectionView&)>& see) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::net
