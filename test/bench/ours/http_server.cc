// net::serve_http with a task for each connection, as the admin endpoint has it.
#include "coroutine/task_group.h"
#include "net/descriptor_limit.h"
#include "net/http.h"
#include "net/uv_network.h"
#include "test/bench/allocation_count.h"
#include "test/bench/network/http_text.h"
#include "test/bench/ours/run_in_task.h"
#include "test/bench/ours/servers.h"

namespace corolane::bench {
namespace {

Result<void> serve(net::EventLoop& loop) {
  net::UvNetwork network(loop);
  auto listener = network.listen({"127.0.0.1", 0});
  if (!listener) return listener.error();
  Seat::announce((*listener)->local_endpoint().port);
  const std::string body = http_json_body();
  const net::HttpHandler handler = [&](const net::HttpRequest&) {
    return net::HttpResponse{.content_type = "application/json", .body = body};
  };
  coroutine::TaskGroup connections;
  for (;;) {
    auto stream = (*listener)->accept(Deadline::never());
    if (!stream) return stream.error();
    const auto spawned = connections.spawn("http", [&handler, stream = std::move(*stream)] {
      return net::serve_http(*stream, handler);
    });
    if (!spawned) return spawned.error();
  }
}

}  // namespace

Error serve_our_http(const Seat& seat) {
  count_allocations_in(seat.allocation_count);
  net::raise_descriptor_limit();
  net::EventLoop loop;
  return run_in_task_on(loop, {}, [&] { return serve(loop); }).error();
}

}  // namespace corolane::bench
