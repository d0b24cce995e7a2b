#include "net/uv_network.h"

#include <utility>

#include "net/detail/resolve.h"
#include "net/detail/tcp_listener.h"
#include "net/detail/tcp_stream.h"

namespace corolane::net {

Result<std::unique_ptr<Listener>> UvNetwork::listen(const Endpoint& endpoint,
                                                    ListenOptions options) {
  auto listener = std::make_unique<detail::TcpListener>(loop_.impl(), options.stream);
  if (auto listening = listener->listen(endpoint, options.backlog); !listening) {
    return listening.error();
  }
  return listener;
}

Result<std::unique_ptr<Stream>> UvNetwork::connect(const Endpoint& endpoint, Deadline deadline,
                                                   StreamOptions options) {
  auto stream = std::make_unique<detail::TcpStream>(loop_.impl(), options);
  if (auto connected = stream->connect(endpoint, deadline); !connected) return connected.error();
  return stream;
}

Result<std::vector<Endpoint>> UvNetwork::resolve(const HostPort& host, Deadline deadline) {
  return detail::resolve(loop_.impl(), host, deadline);
}

}  // namespace corolane::net
