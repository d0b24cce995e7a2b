// SPDX-License-Identifier: MIT
// What the clients of a crowd (crowd.h) say to a server, and what they understand: plain
// WebSockets, sessions of rpc, the rooms of a peer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "coroutine/base/result.h"
#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

// What a crowd has heard so far.
struct Heard {
  std::size_t open_count = 0;    // Clients that are through with their handshakes.
  std::size_t news_count = 0;    // Messages that the server has sent unasked, or as an echo.
  std::size_t answer_count = 0;  // Replies.
};

// Of all clients of one crowd, which are numbered from 0. Bytes are the payloads of messages.
class Talk {
 public:
  virtual ~Talk() = default;

  // The path at which a client opens its WebSocket. May block.
  virtual Result<std::string> target(std::size_t) { return std::string("/"); }
  // Whether a client is open once it is a WebSocket. Otherwise hear() says when it is.
  virtual bool is_open_at_once() const { return false; }
  // What a client says once it is a WebSocket. Nothing: the server speaks first.
  virtual void append_greeting(std::size_t, Bytes&) {}
  // What an open client says in order to hear news, which is answered. Nothing: it hears them.
  virtual void append_joining(std::size_t, Bytes&) {}
  // What is answered with news for this client, or for all that have joined.
  virtual void append_request(std::size_t client, Bytes& out) = 0;
  // What it says when it has news. Nothing: it says nothing.
  virtual void append_acknowledgement(std::size_t, Bytes&) {}

  // A message of the server: counts it, and appends what is to be said at once.
  virtual Result<void> hear(std::size_t client, std::span<const std::byte> message, Heard& heard,
                            Bytes& answer) = 0;
};

// For the server that listens at that port.
using MakeTalk = std::function<Result<std::unique_ptr<Talk>>(std::uint16_t port)>;

// What is published: as large in each server. Ours is a push of rpc that has a text of this size.
inline constexpr std::size_t publication_text_bytes = 64;
inline constexpr std::size_t publication_bytes = 98;

// A WebSocket without anything inside: a client says a message of that size, and all messages of
// the server are news. An acknowledgement has the size of that of a session.
MakeTalk plain_talk(std::size_t message_bytes);

}  // namespace corolane::bench
