// SPDX-License-Identifier: MIT
#include "net/uv/detail/resolve.h"

#include <uv.h>

#include <memory>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "net/detail/socket_address.h"
#include "net/uv/detail/event_loop_impl.h"
#include "net/uv/detail/uv_error.h"

namespace corolane::net::detail {
namespace {

// Owned by the waiting task, and by the loop after that task has given up.
struct LookUp {
  uv_getaddrinfo_t request{};
  std::uint16_t port = 0;
  coroutine::Event ended{"resolve"};
  bool is_abandoned = false;
  int status = 0;
  std::vector<Endpoint> found;
};

void on_resolved(uv_getaddrinfo_t* request, int status, addrinfo* addresses) {
  auto* const look_up = static_cast<LookUp*>(request->data);
  for (const addrinfo* address = addresses; address != nullptr; address = address->ai_next) {
    Endpoint endpoint = to_endpoint(*address->ai_addr);
    endpoint.port = look_up->port;
    look_up->found.push_back(std::move(endpoint));
  }
  uv_freeaddrinfo(addresses);
  look_up->status = status;
  if (look_up->is_abandoned) {
    delete look_up;
  } else {
    look_up->ended.set();
  }
}

}  // namespace

Result<std::vector<Endpoint>> resolve(EventLoop::Impl& loop, const HostPort& host,
                                      Deadline deadline) {
  const Endpoint numeric{.address = host.host, .port = host.port};
  if (auto address = to_socket_address(numeric)) return std::vector{to_endpoint(*address)};
  if (is_unix(numeric)) return to_socket_address(numeric).error();

  const std::string action = "resolve " + host.host;
  auto look_up = std::make_unique<LookUp>();
  look_up->request.data = look_up.get();
  look_up->port = host.port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  const int started =
      uv_getaddrinfo(&loop.uv, &look_up->request, &on_resolved, host.host.c_str(), nullptr, &hints);
  if (started < 0) return uv_error(started, action);

  ++loop.open_count;
  auto waited = look_up->ended.wait(deadline);
  --loop.open_count;
  if (!look_up->ended.is_set()) {
    uv_cancel(reinterpret_cast<uv_req_t*>(&look_up->request));  // Has an effect while it is queued.
    look_up.release()->is_abandoned = true;
  }
  if (!waited) return std::move(waited.error()).with_context(action);
  if (look_up->status < 0) return uv_error(look_up->status, action);
  return std::move(look_up->found);
}

}  // namespace corolane::net::detail
