// SPDX-License-Identifier: MIT
// The client's end of RFC 6455 as bytes, for the generators: one request, whole frames, and a mask
// of zeros, with which a payload is sent as it is. Neither end checks that masks change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "tools/benchmarks/network/protocol.h"

namespace corolane::bench {

// The request that opens a WebSocket at `target`, which begins with a slash.
std::string websocket_request(std::string_view target = "/");

// The size of the answer at the front of `input`; 0 when it is incomplete. Fails when it refuses.
Result<std::size_t> websocket_answer_size(std::span<const std::byte> input);

inline constexpr std::uint8_t websocket_binary_opcode = 2;
inline constexpr std::uint8_t websocket_close_opcode = 8;
inline constexpr std::uint8_t websocket_ping_opcode = 9;
inline constexpr std::uint8_t websocket_pong_opcode = 10;

// Appends a whole message, or a control frame.
void append_websocket_frame(std::uint8_t opcode, std::span<const std::byte> payload, Bytes& out);

struct WebSocketFrame {
  std::size_t size = 0;  // On the wire; 0 when it is incomplete.
  std::uint8_t opcode = 0;
  std::span<const std::byte> payload;
};

// The frame of a server at the front of `input`.
WebSocketFrame first_websocket_frame(std::span<const std::byte> input);

}  // namespace corolane::bench
