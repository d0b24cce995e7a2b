// The frames of RFC 6455 as bytes: cuts messages out of what a peer sends, whatever the pieces, and
// says by which rule it broke them; writes frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "net/uv/detail/byte_buffer.h"

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

// Why a connection has to be failed: the code of section 7.4.1 and a reason for people.
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
  };

  // `expects_mask`: of a server, whose clients mask; the frames of servers are bare.
  WebSocketDecoder(bool expects_mask, const Limits& limits)
      : limits_(limits), expects_mask_(expects_mask) {}

  // What came. Valid until it is used up or taken back with rest().
  void feed(std::span<const std::byte> bytes) { input_ = bytes; }
  // What next() has not looked at yet; forgets it.
  std::span<const std::byte> rest();

  // True with the next message in `event`, whose bytes last until the next call for any decoder of
  // this thread; false when the input is used up. After a violation it may not be called.
  std::expected<bool, WebSocketViolation> next(WebSocketEvent& event);

 private:
  using Step = std::expected<bool, WebSocketViolation>;

  // Each is true once that part is whole.
  Step read_header();
  Step take_header();
  Step check_data_header();
  bool read_payload(WebSocketEvent& event);
  void collect(std::span<const std::byte> bytes);
  std::expected<bool, WebSocketViolation> finish_frame(WebSocketEvent& event);

  bool is_control() const { return opcode_ >= WebSocketOpcode::close; }

  const Limits limits_;
  const bool expects_mask_;
  std::span<const std::byte> input_;

  std::array<std::byte, 14> header_;
  std::uint8_t header_size_ = 0;  // Bytes of it that have come.
  bool in_payload_ = false;

  // Of the frame whose payload comes.
  WebSocketOpcode opcode_ = WebSocketOpcode::continuation;
  bool is_final_ = false;
  bool is_masked_ = false;
  WebSocketMask mask_{};
  std::uint64_t payload_size_ = 0;
  std::uint64_t payload_taken_ = 0;

  // Of the message that comes in fragments; continuation between messages.
  WebSocketOpcode message_opcode_ = WebSocketOpcode::continuation;
  std::size_t fragment_count_ = 0;
  ByteBuffer message_;
  bool message_was_given_ = false;
  std::array<std::byte, 125> control_;
};

// The header of a frame that is the whole message; returns its size. With a mask it is a client's.
constexpr std::size_t websocket_header_bytes_max = 14;
std::size_t encode_websocket_header(WebSocketOpcode opcode, std::size_t payload_size,
                                    const WebSocketMask* mask,
                                    std::span<std::byte, websocket_header_bytes_max> header);

// Puts `from` under the mask, or takes it from there, into `to`, which has as much room; `offset`
// is the place of its first byte within the payload.
void apply_websocket_mask(std::span<const std::byte> from, const WebSocketMask& mask,
                          std::uint64_t offset, std::byte* to);

// Section 5.5.1: what a close frame says; a violation for what none may say. 1005 for nothing.
std::expected<WebSocketViolation, WebSocketViolation> read_websocket_close(
    std::span<const std::byte> payload);
// Whether an endpoint may send that code.
bool is_websocket_close_code(std::uint16_t code);

// RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF.
bool is_utf8(std::span<const std::byte> bytes);

}  // namespace corolane::net::detail
