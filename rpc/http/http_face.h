// The services of a Server over HTTP, by the Connect protocol
// (https://connectrpc.com/docs/protocol), so that curl, browsers and the clients that Connect
// generates for many languages call them:
//
//   rpc::HttpFace face(server);
//   net::HttpServer http(network, face.handler(), {});
//   http.listen({"127.0.0.1", 8080});
//
//   curl --json '{"text":"hello"}' http://127.0.0.1:8080/package.Service/Method
//
// Unary calls: POST with application/json or application/proto, and GET of methods that protobuf's
// idempotency_level calls NO_SIDE_EFFECTS. Streams are refused, one-way methods are answered with
// an empty message when they have ended. Admission, filters, deadlines and statistics are the
// server's; the bearer token and the trace of the header go along. A client that goes away cancels
// its call. `GET /` lists what there is: as text, as HTML to browsers, as JSON with ?format=json.
//
// Which object is called, where a service has objects, says the header `Corolane-Object: ID`, with
// percent-encoding ("%25") for a percent sign and for what stands in no header.
//
// All of it belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <memory>

#include "net/http/http_server.h"
#include "rpc/server/server.h"

namespace corolane::rpc {

class HttpFace {
 public:
  struct Options {
    Door door = Door::nodes;
    // What requests may take, decoded, until they are served.
    std::size_t decoded_bytes_max = std::size_t{64} << 20;
    // Of one message in binary form. HTTP has no limit; who waits for an answer has.
    std::size_t reply_bytes_max = std::size_t{16} << 20;
  };

  explicit HttpFace(Server& server) : HttpFace(server, Options{}) {}
  // `server` outlives it.
  HttpFace(Server& server, Options options);
  ~HttpFace();
  HttpFace(const HttpFace&) = delete;
  HttpFace& operator=(const HttpFace&) = delete;

  // Answers one request. Suspends until the call has ended.
  void answer(const net::HttpRequest& request, net::HttpResponse& response);

  // The same for a net::HttpServer that the face outlives.
  net::HttpFiller handler() {
    return [this](const net::HttpRequest& request, net::HttpResponse& response) {
      answer(request, response);
    };
  }

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
