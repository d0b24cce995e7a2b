// SPDX-License-Identifier: MIT
// The frames of RFC 6455 as bytes: decodes messages from input in pieces of any size, and names the
// rule that a peer broke; encodes frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/detail/byte_buffer.h"
#include "net/websocket/detail/websocket_deflate.h"

namespace corolane::net::detail {

// Section 5.2.
enum class WebSocketOpcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// Why a connection must be failed: the code of section 7.4.1 and a readable reason.
struct WebSocketViolation {
  std::uint16_t code;
  std::string reason;
};

// A whole message, or a control frame.
struct WebSocketEvent {
  WebSocketOpcode opcode = WebSocketOpcode::binary;
  std::span<const std::byte> payload;
};

using WebSocketMask = std::array<std::byte, 4>;

class WebSocketDecoder {
 public:
  struct Limits {
    std::size_t message_bytes_max;
    std::size_t fragment_count_max;
    // The reader wants the payload of data frames as it comes, in pieces, and not whole messages:
    // then neither limit applies, since nothing is kept.
    bool gives_pieces = false;
  };

  // `expects_mask` is true on a server: clients mask their frames, servers do not. `inflates` is
  // true when both ends have agreed on permessage-deflate: events have inflated payloads, to which
  // the limit applies.
  WebSocketDecoder(bool expects_mask, const Limits& limits, bool inflates = false)
      : limits_(limits), expects_mask_(expects_mask), inflates_(inflates) {}

  // Passes input. It must stay valid until it is used up or taken back with rest().
  void feed(std::span<const std::byte> bytes) { input_ = bytes; }
  // Returns the input that next() has not consumed, and forgets it.
  std::span<const std::byte> rest();

  // Returns true with the next message in `event`, whose bytes are valid until the next call for
  // any decoder of this thread; false when the input is used up. Must not be called after a
  // violation.
  std::expected<bool, WebSocketViolation> next(WebSocketEvent& event);

 private:
  using Step = std::expected<bool, WebSocketViolation>;

  // Each returns true once its part is complete.
  Step read_header();
  Step take_header();
  Step check_data_header();
  Step check_deflated_size();
  bool read_payload(WebSocketEvent& event);
  void read_piece(WebSocketEvent& event);
  void collect(std::span<const std::byte> bytes);
  Step inflate_payload(WebSocketEvent& event);
  Step finish_frame(WebSocketEvent& event);
  Step finish_inflation(WebSocketEvent& event);
  Step check_inflated(WebSocketInflation::Outcome outcome);

  bool is_control() const { return opcode_ >= WebSocketOpcode::close; }
  bool is_inflating() const { return message_is_deflated_ && !is_control(); }

  const Limits limits_;
  const bool expects_mask_;
  const bool inflates_;
  std::span<const std::byte> input_;

  std::array<std::byte, 14> header_;
  std::uint8_t header_size_ = 0;  // How many bytes of it have arrived.
  bool in_payload_ = false;
  bool message_is_deflated_ = false;  // False between messages.

  // The current frame, while its payload arrives.
  WebSocketOpcode opcode_ = WebSocketOpcode::continuation;
  bool is_final_ = false;
  bool is_masked_ = false;
  WebSocketMask mask_{};
  std::uint64_t payload_size_ = 0;
  std::uint64_t payload_taken_ = 0;

  // The current fragmented message; continuation between messages.
  WebSocketOpcode message_opcode_ = WebSocketOpcode::continuation;
  std::size_t fragment_count_ = 0;
  ByteBuffer message_;
  bool message_was_given_ = false;
  std::uint64_t deflated_size_ = 0;
  std::unique_ptr<WebSocketInflation> inflation_;
  std::array<std::byte, 125> control_;
};

// Writes the header of a frame that is a whole message; returns its size. Clients pass a mask. The
// payload of a deflated message is that of deflate_websocket_payload().
constexpr std::size_t websocket_header_bytes_max = 14;
std::size_t encode_websocket_header(WebSocketOpcode opcode, std::size_t payload_size,
                                    const WebSocketMask* mask,
                                    std::span<std::byte, websocket_header_bytes_max> header,
                                    bool is_deflated = false);

// The size of the header that encode_websocket_header() writes.
constexpr std::size_t websocket_header_size(std::size_t payload_size, bool is_masked) {
  const std::size_t extended = payload_size > 0xffff ? 8 : payload_size > 125 ? 2 : 0;
  return 2 + extended + (is_masked ? sizeof(WebSocketMask) : 0);
}

// A mask that the peer's other software cannot foresee (section 10.3).
WebSocketMask random_websocket_mask();

// Masks or unmasks `from` into `to`, which has as much room and may be the same; `offset` is the
// position of its first byte within the payload.
void apply_websocket_mask(std::span<const std::byte> from, const WebSocketMask& mask,
                          std::uint64_t offset, std::byte* to);

// Section 5.5.1: reads the contents of a close frame; a violation if they are invalid. 1005 for an
// empty one.
std::expected<WebSocketViolation, WebSocketViolation> read_websocket_close(
    std::span<const std::byte> payload);
// Whether an endpoint may send that code.
bool is_websocket_close_code(std::uint16_t code);

}  // namespace corolane::net::detail
