// SPDX-License-Identifier: MIT
// permessage-deflate (RFC 7692): payloads of messages, compressed.
//
// Neither end refers to earlier messages ("no context takeover"), so an idle connection holds no
// state of zlib: one of each kind serves all connections of a thread. Only a message that has
// arrived in part holds a state of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace corolane::net::detail {

// The settings that both ends have agreed on.
struct WebSocketDeflate {
  // The binary logarithm of the window for what this end sends, 9 to 15: zlib has no smaller one.
  // The window of the peer may be of any size.
  int window_bits = 15;

  bool operator==(const WebSocketDeflate&) const = default;
};

// Returns the deflated payload, in memory that the thread's next call reuses; nothing when it would
// not be smaller, as the message is then sent as it is. Never suspends.
std::optional<std::span<const std::byte>> deflate_websocket_payload(
    const WebSocketDeflate& deflate, std::span<const std::byte> payload);

// Inflates the payload of one message, from pieces of any size.
class WebSocketInflation {
 public:
  enum class Outcome : std::uint8_t { good, too_long, invalid };

  // Returns the state that the thread keeps, or a new one.
  static std::unique_ptr<WebSocketInflation> lend();
  // Keeps it for the thread's next message. Its content stays valid until the next lend().
  static void give_back(std::unique_ptr<WebSocketInflation> inflation);

  WebSocketInflation();
  ~WebSocketInflation();
  WebSocketInflation(const WebSocketInflation&) = delete;
  WebSocketInflation& operator=(const WebSocketInflation&) = delete;

  // Appends what the piece inflates to. Outputs at most one byte more than `bytes_max`, of the
  // whole message, however much more there would be. After anything but `good` only lend() revives
  // it.
  Outcome put(std::span<const std::byte> piece, std::size_t bytes_max);
  // Called behind the last piece: `invalid` when the data is cut off.
  Outcome finish(std::size_t bytes_max);
  std::span<const std::byte> content() const;

 private:
  struct State;

  void reset();

  std::unique_ptr<State> state_;
};

}  // namespace corolane::net::detail
