// SPDX-License-Identifier: MIT
// The header Sec-WebSocket-Extensions (RFC 6455, section 9.1), and how both ends agree on
// permessage-deflate by it (RFC 7692, section 7.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/http_headers.h"
#include "net/websocket/detail/websocket_deflate.h"

namespace corolane::net::detail {

struct WebSocketExtension {
  struct Parameter {
    std::string name;
    std::optional<std::string> value;  // Without its quotes.
  };

  std::string name;
  std::vector<Parameter> parameters;
};

// Returns the extensions of all headers of that name, in order; nothing when one is malformed.
std::optional<std::vector<WebSocketExtension>> read_websocket_extensions(
    const HttpHeaders& headers);

struct WebSocketDeflateAnswer {
  WebSocketDeflate deflate;
  std::string text;  // The value of the header.
};

// Returns a server's answer to the first offer that it can accept.
std::optional<WebSocketDeflateAnswer> accept_deflate_offer(
    const std::vector<WebSocketExtension>& offers);

// What a client offers. It does not offer to limit its own window: servers of this kind keep none.
constexpr std::string_view websocket_deflate_offer =
    "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

// Returns what a server's answer to that offer agrees on; nothing when it is not an answer to it.
std::optional<WebSocketDeflate> read_deflate_answer(const WebSocketExtension& answer);

}  // namespace corolane::net::detail
