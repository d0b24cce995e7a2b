// How a WebSocket comes about: by an HTTP request that asks for it (RFC 6455, section 4).
//
// A server that has read the request already, among others, answers it by answer_websocket() and
// goes on with the stream; accept_websocket() does both.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
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
  // What may be spoken inside, the preferred one first. A server takes the first that the client
  // offers, or none; a client offers all, and takes none other.
  std::vector<std::string> protocols = {};
  // Of a server: the pages that browsers may come from, "https://game.example"; empty for all.
  // Clients that are no browsers name none, and are let in.
  std::vector<std::string> origins = {};
  // Of a client: what the request says besides, such as Authorization or Origin.
  HttpHeaders headers = {};
  // Of a server's accept_websocket(), for the request.
  HttpOptions http = {};
  WebSocketOptions websocket = {};
};

// Whether the request asks for a WebSocket at all.
bool asks_for_websocket(const HttpRequest& request);

struct WebSocketAnswer {
  std::string text;           // The whole response: 101, and its headers.
  std::string protocol = {};  // Empty when there is none.
};

// What to send, or the response that refuses: 400 for a request that breaks the rules, 403 for
// another origin, 426 for another version.
std::expected<WebSocketAnswer, HttpResponse> answer_websocket(
    const HttpRequest& request, const WebSocketUpgradeOptions& options = {});

// Answers the request, which came by that stream, and makes a WebSocket of it; `early` is what was
// read behind the request. Suspends until the answer is sent, at most. Fails with invalid_argument
// or permission_denied when the request is refused, after the peer was told so; and as the stream
// does.
Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    const HttpRequest& request, Deadline deadline,
                                                    const WebSocketUpgradeOptions& options = {},
                                                    std::span<const std::byte> early = {});

// The same for a stream by which nothing has come yet: reads the request first.
Result<std::unique_ptr<WebSocket>> accept_websocket(std::unique_ptr<Stream> stream,
                                                    Deadline deadline,
                                                    const WebSocketUpgradeOptions& options = {});

// Connects and asks for a WebSocket at `target`, "/play". Suspends. Fails as connect_to() does, and
// with unavailable when the server answers otherwise, or what RFC 6455 forbids.
Result<std::unique_ptr<WebSocket>> connect_websocket(Network& network, const HostPort& host,
                                                     std::string_view target, Deadline deadline,
                                                     const WebSocketUpgradeOptions& options = {});

}  // namespace corolane::net
