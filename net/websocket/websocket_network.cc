// SPDX-License-Identifier: MIT
#include "net/websocket/websocket_network.h"

#include <utility>

#include "net/detail/handshake_listener.h"
#include "net/websocket/detail/websocket_stream.h"
#include "net/websocket/websocket_upgrade.h"

namespace corolane::net {
WebSocketNetwork::WebSocketNetwork(Network& inner, Options options)
    : inner_(inner), shared_(std::make_shared<detail::WebSocketShared>(std::move(options))) {}

Result<std::unique_ptr<Listener>> WebSocketNetwork::listen(const Endpoint& endpoint,
                                                           ListenOptions options) {
  auto inner = inner_.listen(endpoint, options);
  if (!inner) return inner;
  auto wrap = [shared = shared_](std::unique_ptr<Stream> stream) {
    return std::make_unique<detail::WebSocketStream>(std::move(stream), shared);
  };
  const detail::HandshakeListener::Rules rules{
      .handshake_time_max = shared_->options.handshake_time_max,
      .handshake_count_max = shared_->options.handshake_count_max};
  auto listener = std::make_unique<detail::HandshakeListener>(*std::move(inner), std::move(wrap),
                                                              "WebSocket accept", rules);
  if (auto started = listener->start(); !started) return started.error();
  return listener;
}

Result<std::unique_ptr<Stream>> WebSocketNetwork::connect(const Endpoint& endpoint,
                                                          Deadline deadline,
                                                          StreamOptions options) {
  return connect_by_name(is_unix(endpoint) ? "localhost" : endpoint.address, endpoint, deadline,
                         options);
}

Result<std::unique_ptr<Stream>> WebSocketNetwork::connect_by_name(const std::string& name,
                                                                  const Endpoint& endpoint,
                                                                  Deadline deadline,
                                                                  StreamOptions options) {
  auto inner = inner_.connect_by_name(name, endpoint, deadline, options);
  if (!inner) return inner;
  const Deadline done_by = earlier(deadline, Deadline::after(shared_->options.handshake_time_max));
  auto opening =
      ask_for_websocket(**inner, {.host = name, .port = endpoint.port}, shared_->options.target,
                        done_by, {.deflates = shared_->options.deflates});
  if (!opening) {
    ++shared_->statistics.failed_count;
    shared_->statistics.last_failure = to_string(endpoint) + ": " + opening.error().message();
    return opening.error();
  }
  ++shared_->statistics.opened_count;
  return std::make_unique<detail::WebSocketStream>(*std::move(inner), shared_,
                                                   bytes_of(opening->early), opening->deflate);
}

Result<std::unique_ptr<UdpSocket>> WebSocketNetwork::bind_udp(const Endpoint& endpoint,
                                                              UdpOptions options) {
  return inner_.bind_udp(endpoint, options);
}

Result<std::vector<Endpoint>> WebSocketNetwork::resolve(const HostPort& host, Deadline deadline) {
  return inner_.resolve(host, deadline);
}

const WebSocketNetwork::Statistics& WebSocketNetwork::statistics() const {
  return shared_->statistics;
}

}  // namespace corolane::net
