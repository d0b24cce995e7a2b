// SPDX-License-Identifier: MIT
// Serves the services of a Server over HTTP, by the Connect protocol
// (https://connectrpc.com/docs/protocol), so that curl, browsers and Connect's generated clients in
// many languages can call them:
//
//   rpc::HttpFace face(server, {.door = rpc::Door::clients});
//   net::HttpServer http(network, face.handler(), {});
//   auto endpoint = http.listen({"127.0.0.1", 8080});
//
// A call by hand:
//
//     curl --json '{"text":"hello"}' http://127.0.0.1:8080/package.Service/Method
//
// Unary calls: POST with application/json or application/proto, and GET of methods whose protobuf
// idempotency_level is NO_SIDE_EFFECTS. Streams are refused; one-way methods are answered with an
// empty message when they have ended. Admission, filters, deadlines and statistics are the
// server's; the traceparent header is passed on. A client that disconnects
// cancels its call. `GET /` lists the services: as text, as HTML to browsers, as JSON with
// ?format=json.
//
// For a service of objects the header `Corolane-Object: ID` names the object that is called,
// percent-encoded ("%25") for a percent sign and for characters that a header cannot hold.
//
// An HttpFace belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <memory>

#include "net/http/http_server.h"
#include "rpc/server/server.h"

namespace corolane::rpc {

class HttpFace {
 public:
  struct Options {
    DoorChoice door;
    // Finds the principal of each request by its bearer token. Empty: every client is anonymous.
    Login login = {};
    // Whether `GET /` lists the services.
    bool lists_services = true;
    // How much memory decoded requests may take until they are served.
    std::size_t decoded_bytes_max = std::size_t{64} << 20;
    // The maximum size of one reply in binary form. HTTP has no limit, but clients do.
    std::size_t reply_bytes_max = std::size_t{16} << 20;
  };

  // `server` outlives the face.
  HttpFace(Server& server, Options options);
  ~HttpFace();
  HttpFace(const HttpFace&) = delete;
  HttpFace& operator=(const HttpFace&) = delete;

  // Answers one request. Suspends until the call has ended.
  void answer(const net::HttpRequest& request, net::HttpResponse& response);

  // The same as a handler for a net::HttpServer; the face outlives that server.
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
