// SPDX-License-Identifier: MIT
// How the tools reach a node, by TLS and by WebSocket: four options, and the network that follows
// from them.
#pragma once

#include <array>
#include <memory>

#include "coroutine/base/result.h"
#include "net/network.h"
#include "net/tls/tls.h"
#include "net/websocket/websocket_network.h"
#include "tools/arguments.h"

namespace corolane::tools {

inline constexpr std::array tls_option_rules = {
    OptionRule{.name = "--tls", .has_value = true},
    OptionRule{.name = "--certificate", .has_value = true},
    OptionRule{.name = "--key", .has_value = true},
};
// For the door for clients alone.
inline constexpr OptionRule websocket_option_rule{.name = "--websocket"};

// The network to call through.
class CallNetwork {
 public:
  // `inner` outlives it. Fails with invalid_argument when an option needs another one that is
  // missing, and like net::TlsContext::load() for their files.
  static Result<CallNetwork> make(net::Network& inner, const Arguments& arguments);

  net::Network& network() {
    if (websocket_ != nullptr) return *websocket_;
    return tls_ == nullptr ? inner_ : *tls_;
  }

 private:
  explicit CallNetwork(net::Network& inner) : inner_(inner) {}

  net::Network& inner_;
  std::unique_ptr<net::TlsContext> context_;
  std::unique_ptr<net::TlsNetwork> tls_;
  std::unique_ptr<net::WebSocketNetwork> websocket_;
};

}  // namespace corolane::tools
