// SPDX-License-Identifier: MIT
// The frames of WebSockets: the same messages, or the same close, in any chunking; within the
// limits; and messages that are encoded again are decoded the same.
//
// Input: a byte that chooses the side (1) and permessage-deflate (2), cuts, and what the peer
// sends.
#include "net/websocket/websocket.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/text.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using net::detail::encode_websocket_header;
using net::detail::WebSocketDecoder;
using net::detail::WebSocketEvent;
using net::detail::WebSocketMask;
using net::detail::WebSocketOpcode;

// Small, so that inputs of a few hundred bytes reach them.
constexpr WebSocketDecoder::Limits limits{.message_bytes_max = 300, .fragment_count_max = 4};

struct Side {
  bool expects_mask;
  bool deflates;
};

struct Message {
  WebSocketOpcode opcode;
  std::string payload;

  bool operator==(const Message&) const = default;
};

struct Decoded {
  std::vector<Message> messages;
  unsigned close_code = 0;  // Zero when no rule was broken.

  bool operator==(const Decoded&) const = default;
};

bool is_close_code(unsigned code) { return code == 1002 || code == 1007 || code == 1009; }

Decoded decode(const Pieces& pieces, Side side) {
  Decoded decoded;
  WebSocketDecoder decoder(side.expects_mask, limits, side.deflates);
  for (const Bytes piece : pieces) {
    decoder.feed(piece);
    for (WebSocketEvent event;;) {
      const auto whole = decoder.next(event);
      if (!whole) {
        decoded.close_code = whole.error().code;
        return decoded;
      }
      if (!*whole) break;
      decoded.messages.push_back({event.opcode, std::string(text_of(event.payload))});
    }
    check(decoder.rest().empty(), "the decoder keeps incomplete input");
  }
  return decoded;
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void check_message(const Message& message) {
  if (message.opcode >= WebSocketOpcode::close) {
    check(message.payload.size() <= 125, "control frames are short");
  } else {
    check(message.payload.size() <= limits.message_bytes_max, "no message is above the limit");
  }
  check(message.opcode != WebSocketOpcode::text || is_utf8(message.payload), "a text is UTF-8");
  check(message.opcode != WebSocketOpcode::continuation, "a message is whole");
  if (message.opcode != WebSocketOpcode::close) return;
  const auto said = net::detail::read_websocket_close(bytes_of(message.payload));
  check(said || is_close_code(said.error().code), "an invalid close frame has one of our codes");
}

std::string encode(const Message& message, Side side) {
  constexpr WebSocketMask mask = {std::byte{1}, std::byte{0x80}, std::byte{0xff}, std::byte{7}};
  std::array<std::byte, net::detail::websocket_header_bytes_max> header;
  const bool may_deflate = side.deflates && message.opcode < WebSocketOpcode::close;
  const auto deflated = may_deflate
                            ? net::detail::deflate_websocket_payload({}, bytes_of(message.payload))
                            : std::nullopt;
  const std::string bare = deflated ? std::string(text_of(*deflated)) : message.payload;
  const std::size_t size =
      encode_websocket_header(message.opcode, bare.size(), side.expects_mask ? &mask : nullptr,
                              header, deflated.has_value());
  std::string frame(text_of(std::span(header).first(size)));
  std::string payload = bare;
  if (side.expects_mask) {
    net::detail::apply_websocket_mask(bytes_of(bare), mask, 0,
                                      reinterpret_cast<std::byte*>(payload.data()));
  }
  return frame + payload;
}

}  // namespace

void run(Input input) {
  const std::uint8_t choices = input.take_byte();
  const Side side{.expects_mask = (choices & 1) != 0, .deflates = (choices & 2) != 0};
  const auto cuts = input.take_cuts();
  const Bytes flow = input.rest();
  const Decoded whole = decode({flow}, side);
  check(decode(cut(flow, cuts), side) == whole, "cuts change nothing");
  check(decode(cut_at_every_byte(flow), side) == whole, "nor do cuts at every byte");
  check(whole.close_code == 0 || is_close_code(whole.close_code), "a violation has its code");

  std::string again;
  for (const Message& message : whole.messages) {
    check_message(message);
    again += encode(message, side);
  }
  check(decode({bytes_of(again)}, side).messages == whole.messages,
        "encoded again, the messages are read as the same");
}

}  // namespace corolane::fuzz
