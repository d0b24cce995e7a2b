// SPDX-License-Identifier: MIT
#include "net/uv/uv_network.h"

#include <utility>

#include "net/uv/detail/resolve.h"
#include "net/uv/detail/socket_listener.h"
#include "net/uv/detail/socket_stream.h"
#include "net/uv/detail/uv_udp_socket.h"

namespace corolane::net {

Result<std::unique_ptr<Listener>> UvNetwork::listen(const Endpoint& endpoint,
                                                    ListenOptions options) {
  auto listener = std::make_unique<detail::SocketListener>(loop_.impl(), options);
  if (auto listening = listener->listen(endpoint); !listening) {
    return listening.error();
  }
  return listener;
}

Result<std::unique_ptr<Stream>> UvNetwork::connect(const Endpoint& endpoint, Deadline deadline,
                                                   StreamOptions options) {
  const auto transport = is_unix(endpoint) ? detail::SocketStream::Transport::unix_socket
                                           : detail::SocketStream::Transport::tcp;
  auto stream = std::make_unique<detail::SocketStream>(loop_.impl(), transport, options);
  if (auto connected = stream->connect(endpoint, deadline); !connected) return connected.error();
  return stream;
}

Result<std::unique_ptr<UdpSocket>> UvNetwork::bind_udp(const Endpoint& endpoint,
                                                       UdpOptions options) {
  auto socket = std::make_unique<detail::UvUdpSocket>(loop_.impl(), options);
  if (auto bound = socket->bind(endpoint); !bound) return bound.error();
  return socket;
}

Result<std::vector<Endpoint>> UvNetwork::resolve(const HostPort& host, Deadline deadline) {
  return detail::resolve(loop_.impl(), host, deadline);
}

}  // namespace corolane::net
