// SPDX-License-Identifier: MIT
// net::HttpServer with a handler that only copies a body.
#include "net/http/http_server.h"

#include "coroutine/task.h"
#include "net/uv/uv_network.h"
#include "tools/benchmarks/network/http_text.h"
#include "tools/benchmarks/ours/serve_in_task.h"
#include "tools/benchmarks/ours/servers.h"

namespace corolane::bench {
namespace {

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  const std::string body = http_json_body();
  net::HttpServer server(network,
                         net::HttpFiller([&](const net::HttpRequest&, net::HttpResponse& response) {
                           response.content_type = "application/json";
                           response.body = body;
                         }),
                         {});
  const auto endpoint = server.listen({"127.0.0.1", 0});
  if (!endpoint) return endpoint.error();
  Seat::announce(endpoint->port);
  return coroutine::sleep_until(Deadline::never());
}

}  // namespace

Error serve_our_http(const Seat& seat) { return serve_in_task(seat, serve); }

}  // namespace corolane::bench
