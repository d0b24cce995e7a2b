// SPDX-License-Identifier: MIT
#include "framework/node/detail/client_door.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "framework/telemetry/log.h"
#include "net/one_port/first_bytes.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;

// Any stranger can cause a refusal; the log has one line for all within this time.
constexpr Duration refusal_line_interval = 1min;

net::OnePort::Kind tls_kind() {
  return {.name = "tls", .match = net::match_tls, .refusal = net::refusal_by_tls()};
}

// The reasons are for clients that find nobody who serves them at the port.
std::vector<net::OnePort::Kind> plain_kinds(std::string_view frames_reason,
                                            std::string_view http2_reason,
                                            std::string_view http_reason) {
  return {
      {.name = "frames",
       .match = rpc::match_hello,
       .refusal = rpc::bye_frame(Error(Code::failed_precondition, std::string(frames_reason)))},
      {.name = "http2", .match = net::match_http2, .refusal = net::refusal_by_http2(http2_reason)},
      {.name = "http", .match = net::match_http, .refusal = net::refusal_by_http(http_reason)}};
}

std::vector<net::OnePort::Kind> served_kinds() {
  auto kinds = plain_kinds("this port serves HTTP, and no frames", "this port speaks HTTP/1.1",
                           "this port serves no HTTP; its operator may set node.clients.http: on");
  // A request for a WebSocket is one of HTTP, too: only its headers tell them apart.
  kinds.insert(kinds.begin(), {.name = "websocket",
                               .match = net::match_websocket,
                               .refusal = net::refusal_by_http(
                                   "this port serves no WebSockets; its operator may set "
                                   "node.clients.websocket: true"),
                               .first_bytes_max = net::websocket_head_bytes_max + 1});
  return kinds;
}

}  // namespace

Result<void> ClientDoor::open(const net::TlsOptions& files,
                              net::WebSocketNetwork::Options websockets) {
  const bool is_tls = !files.certificate_file.empty();
  auto kinds = is_tls ? plain_kinds("this port speaks TLS", "this port speaks TLS: use https://",
                                    "this port speaks TLS: use https://")
                      : served_kinds();
  kinds.insert(kinds.begin(), tls_kind());
  outside_ = make_port(network_, std::move(kinds));
  tls_ = std::make_unique<DoorNetwork>(outside_->network("tls"), "node.clients.tls");
  if (auto opened = tls_->open(files); !opened) return opened;
  if (tls_->is_tls()) inside_ = make_port(tls_->network(), served_kinds());
  websockets_ =
      std::make_unique<net::WebSocketNetwork>(front().network("websocket"), std::move(websockets));
  return {};
}

std::unique_ptr<net::OnePort> ClientDoor::make_port(net::Network& inner,
                                                    std::vector<net::OnePort::Kind> kinds) {
  const auto on_refused = [this](const net::OnePort::Kind& kind, const net::Endpoint& peer) {
    note_refused(kind, peer);
  };
  return std::make_unique<net::OnePort>(inner, connections_, std::move(kinds),
                                        net::OnePort::Options{.on_refused = on_refused});
}

void ClientDoor::note_refused(const net::OnePort::Kind& kind, const net::Endpoint& peer) {
  ++unlogged_count_;
  if (now() < next_line_) return;
  next_line_ = now() + refusal_line_interval;
  log_.info("clients were refused for the protocol that they speak",
            {{"last", kind.name},
             {"from", to_string(peer)},
             {"count", std::exchange(unlogged_count_, 0)}});
}

net::OnePort::Statistics ClientDoor::statistics() const {
  net::OnePort::Statistics sum;
  for (const net::OnePort* const port : {outside_.get(), inside_.get()}) {
    if (port == nullptr) continue;
    const net::OnePort::Statistics& more = port->statistics();
    for (const auto& kind : more.kinds) {
      auto found = std::ranges::find(sum.kinds, kind.name, &net::OnePort::Statistics::OfKind::name);
      if (found == sum.kinds.end()) {
        found = sum.kinds.insert(found, {.name = kind.name});
      }
      found->accepted_count += kind.accepted_count;
      found->refused_count += kind.refused_count;
    }
    sum.undecided_count += more.undecided_count;
    sum.unknown_count += more.unknown_count;
    sum.silent_count += more.silent_count;
    sum.placeless_count += more.placeless_count;
  }
  return sum;
}

}  // namespace corolane::framework::detail
