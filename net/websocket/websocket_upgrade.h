// SPDX-License-Identifier: MIT
// The opening handshake of a WebSocket: an HTTP request that asks for one (RFC 6455, section 4).
//
//   auto socket = accept_websocket(std::move(stream), deadline, {.protocols = {"chess"}});
//   if (!socket) return socket.error();
//   auto message = (*socket)->read_message(deadline);
//
// A server that has read the request itself, among others, uses answer_websocket() and keeps the
// stream; accept_websocket() does both.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "net/http/http.h"
#include "net/network.h"
#include "net/websocket/websocket.h"

namespace corolane::net {

struct WebSocketUpgradeOptions {
  // The subprotocols, the preferred one first. A server takes the first that the client offers, or
  // none; a client offers all, and accepts no other.
  std::vector<std::string> protocols = {};
  // For a server: the pages that browsers may come from, as "https://game.example"; "*" admits
  // all. Those of its own host are admitted when that is an address or localhost. Clients that are
  // not browsers name no origin, and are admitted.
  std::vector<std::string> origins = {};
  // For a client: additional request headers, such as Authorization or Origin.
  HttpHeaders headers = {};
  // For a server's accept_websocket(): the bounds of the request.
  HttpOptions http = {};
  WebSocketOptions websocket = {};
  // Whether messages are compressed with permessage-deflate (RFC 7692) when the peer can as well: a
  // server accepts its offer, a client offers it. It costs time for fewer bytes; and where an
  // attacker chooses a part of a message and sees its size, the size tells of the rest.
  bool deflates = false;
};

// Whether the request asks for a WebSocket at all.
bool asks_for_websocket(const HttpRequest& request);

struct WebSocketAnswer {
  std::string text;           // The whole response: 101, and its headers.
  std::string protocol = {};  // Empty when there is none.
  // What was agreed on, for the WebSocket; empty for messages as they are.
  std::optional<WebSocketDeflate> deflate = {};
};

// Returns the answer to send, or the response that refuses: 400 for a request that breaks the
// rules, 403 for another origin, 426 for another version.
std::expected<WebSocketAnswer, HttpResponse> answer_websocket(
    const HttpRequest& request, const WebSocketUpgradeOptions& options = {});

// Answers the request, which came over that stream, and turns it into a WebSocket; `early` are
// bytes that were read behind the request. Suspends at most until the answer is sent. Fails with
// invalid_argument or permission_denied when the request is refused, after telling the peer; and as
// the stream does.
Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    const HttpRequest& request, Deadline deadline,
                                                    const WebSocketUpgradeOptions& options = {},
                                                    std::span<const std::byte> early = {});

// The same for a stream from which nothing has been read yet: reads the request first.
Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    Deadline deadline,
                                                    const WebSocketUpgradeOptions& options = {});

// What a server has answered to a client.
struct WebSocketOpening {
  std::string early = {};  // What came behind the answer.
  std::optional<WebSocketDeflate> deflate = {};
};

// Asks for a WebSocket at `target` over a stream that is connected to `host`. Suspends. Fails as
// connect_websocket().
Result<WebSocketOpening> ask_for_websocket(Stream& stream, const HostPort& host,
                                           std::string_view target, Deadline deadline,
                                           const WebSocketUpgradeOptions& options);

// Connects and asks for a WebSocket at `target`, "/play". Suspends. Fails as connect_to() does, and
// with unavailable when the server answers otherwise, or violates RFC 6455.
Result<std::unique_ptr<WebSocket>> connect_websocket(Network& network, const HostPort& host,
                                                     std::string_view target, Deadline deadline,
                                                     const WebSocketUpgradeOptions& options = {});

}  // namespace corolane::net
