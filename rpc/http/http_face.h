// SPDX-License-Identifier: MIT
// Serves the services of a Server over HTTP, by the Connect protocol
// (https://connectrpc.com/docs/protocol), so that curl, browsers and Connect's generated clients in
// many languages can call them:
//
//   rpc::HttpFace face(server, {.door = rpc::Door::clients});
//   net::HttpServer http(network, face, {});
//   auto endpoint = http.listen({"127.0.0.1", 8080});
//
// A call by hand:
//
//     curl --json '{"text":"hello"}' http://127.0.0.1:8080/package.Service/Method
//
// Unary calls: POST with application/json or application/proto, and GET of methods whose protobuf
// idempotency_level is NO_SIDE_EFFECTS. Streams: POST with application/connect+json or
// application/connect+proto, and GET with `Accept: text/event-stream`, as a browser's EventSource
// asks, of methods that have no side effects and are not called with a stream. One-way methods are
// answered with an empty message when they have ended. Admission, limits, filters, deadlines and
// statistics are the server's: a request that may not begin waits or is refused without a task. The
// traceparent header is passed on. A client that disconnects cancels its call, within a second.
// `GET /` lists the services: as text, as HTML to browsers, as JSON with ?format=json.
//
// For a service of objects the header `Corolane-Object: ID` names the object that is called,
// percent-encoded ("%25") for a percent sign and for characters that a header cannot hold; for GET
// so does `corolane-object=ID` in the query.
//
// An HttpFace belongs to one scheduler's thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "net/http/http_exchange.h"
#include "net/http/http_files.h"
#include "rpc/server/server.h"

namespace corolane::rpc {

class HttpFace final : public net::HttpService {
 public:
  struct Options {
    DoorChoice door;
    // Finds the principal of each request by its bearer token, in the task of the call; a GET may
    // have it as `access_token` in its query. Empty: every client is anonymous.
    Login login = {};
    // The origins of web pages whose scripts may call, such as "https://game.example"; "*" stands
    // for all. Browsers refuse the answers to scripts of other origins
    // (https://fetch.spec.whatwg.org/#http-cors-protocol).
    std::vector<std::string> origins = {};
    // Whether `GET /` lists the services.
    bool lists_services = true;
    // What browsers get at other paths, and at `/` before the list; outlives the face. Null:
    // nothing.
    const net::HttpFiles* files = nullptr;
    // The maximum size of a request that was compressed with gzip; net::HttpOptions::body_bytes_max
    // bounds the others.
    std::size_t request_bytes_max = net::HttpOptions{}.body_bytes_max;
    // The maximum size of one reply in binary form. HTTP has no limit, but clients do.
    std::size_t reply_bytes_max = std::size_t{16} << 20;
  };

  // `server` outlives the face, and has all its services.
  HttpFace(Server& server, Options options);
  ~HttpFace();
  HttpFace(const HttpFace&) = delete;
  HttpFace& operator=(const HttpFace&) = delete;

  // For a net::HttpServer.
  void begin(net::HttpExchange& exchange) override;
  bool serves_here() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corolane::rpc
