// SPDX-License-Identifier: MIT
#include "net/websocket/detail/websocket_codec.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "coroutine/base/text.h"
#include "net/crypto.h"
#include "net/stream.h"

namespace corolane::net::detail {
namespace {

constexpr std::uint16_t protocol_error = 1002;
constexpr std::uint16_t bad_data = 1007;
constexpr std::uint16_t too_big = 1009;

// Holds the unmasked payload of a message that came in one piece; a stream reads no more at a time.
constexpr std::size_t scratch_bytes = 64 * 1024;
thread_local std::array<std::byte, scratch_bytes> scratch;

std::unexpected<WebSocketViolation> violation(std::uint16_t code, std::string reason) {
  return std::unexpected(WebSocketViolation{.code = code, .reason = std::move(reason)});
}

std::unexpected<WebSocketViolation> too_long(std::size_t bytes_max) {
  return violation(too_big, "a message of more than " + std::to_string(bytes_max) + " bytes");
}

unsigned to_number(std::byte byte) { return std::to_integer<unsigned>(byte); }

std::uint64_t big_endian(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes) number = number << 8 | to_number(byte);
  return number;
}

bool is_opcode(unsigned number) { return number <= 2 || (number >= 8 && number <= 10); }

// RFC 7692, section 6: the first frame of a data message alone may have its first reserved bit set.
bool begins_deflated(unsigned first) {
  const unsigned opcode = first & 0x0f;
  return (first & 0x70) == 0x40 && (opcode == 1 || opcode == 2);
}

// The size of a header, by its second byte.
std::size_t header_size(std::byte second) {
  const unsigned length = to_number(second) & 0x7f;
  const std::size_t extended = length == 127 ? 8 : length == 126 ? 2 : 0;
  return 2 + extended + ((to_number(second) & 0x80) != 0 ? sizeof(WebSocketMask) : 0);
}

}  // namespace

std::span<const std::byte> WebSocketDecoder::rest() { return std::exchange(input_, {}); }

WebSocketDecoder::Step WebSocketDecoder::next(WebSocketEvent& event) {
  if (std::exchange(message_was_given_, false)) message_ = ByteBuffer();
  for (;;) {
    if (!in_payload_) {
      auto whole = read_header();
      if (!whole || !*whole) return whole;
    }
    if (is_inflating()) {
      auto inflated = inflate_payload(event);
      if (!inflated || !*inflated) return inflated;
    } else if (limits_.gives_pieces && !is_control()) {
      if (input_.empty() && payload_taken_ < payload_size_) return false;
      read_piece(event);
      return true;
    } else if (!read_payload(event)) {
      return false;
    }
    auto whole = finish_frame(event);
    if (!whole || *whole) return whole;
  }
}

WebSocketDecoder::Step WebSocketDecoder::read_header() {
  while (!input_.empty()) {
    const std::size_t wanted = header_size_ < 2 ? 2 : header_size(header_[1]);
    const std::size_t count = std::min(wanted - header_size_, input_.size());
    std::memcpy(header_.data() + header_size_, input_.data(), count);
    header_size_ = static_cast<std::uint8_t>(header_size_ + count);
    input_ = input_.subspan(count);
    if (header_size_ >= 2 && header_size_ == header_size(header_[1])) return take_header();
  }
  return false;
}

WebSocketDecoder::Step WebSocketDecoder::take_header() {
  const std::span<const std::byte> header =
      std::span(header_).first(std::exchange(header_size_, 0));
  const unsigned first = to_number(header[0]);
  const unsigned length = to_number(header[1]) & 0x7f;
  is_final_ = (first & 0x80) != 0;
  is_masked_ = (to_number(header[1]) & 0x80) != 0;
  payload_taken_ = 0;
  payload_size_ = length;
  if (length == 126) payload_size_ = big_endian(header.subspan(2, 2));
  if (length == 127) payload_size_ = big_endian(header.subspan(2, 8));
  if (is_masked_) std::ranges::copy(header.last<4>(), mask_.begin());

  if (!is_opcode(first & 0x0f)) return violation(protocol_error, "an unknown opcode");
  opcode_ = static_cast<WebSocketOpcode>(first & 0x0f);
  if ((first & 0x70) != 0) {
    if (!inflates_ || !begins_deflated(first)) {
      return violation(protocol_error, "a reserved bit is set");
    }
    message_is_deflated_ = true;
  }
  if (is_masked_ != expects_mask_) {
    return violation(protocol_error,
                     expects_mask_ ? "a client masks its frames" : "a server masks no frame");
  }
  if ((length == 126 && payload_size_ < 126) ||
      (length == 127 && (payload_size_ <= 0xffff || payload_size_ >> 63 != 0))) {
    return violation(protocol_error, "a length that is not in its shortest form");
  }
  in_payload_ = true;
  if (!is_control()) return check_data_header();
  if (!is_final_) return violation(protocol_error, "a control frame in fragments");
  if (payload_size_ > control_.size()) return violation(protocol_error, "a long control frame");
  return true;
}

WebSocketDecoder::Step WebSocketDecoder::check_data_header() {
  const bool continues = opcode_ == WebSocketOpcode::continuation;
  const bool is_within = message_opcode_ != WebSocketOpcode::continuation;
  if (continues && !is_within) return violation(protocol_error, "a continuation of nothing");
  if (!continues && is_within) return violation(protocol_error, "a message within a message");
  if (!continues) {
    message_opcode_ = opcode_;
    fragment_count_ = 0;
  }
  if (limits_.gives_pieces) return true;
  if (++fragment_count_ > limits_.fragment_count_max) {
    return violation(too_big, "a message of more than " +
                                  std::to_string(limits_.fragment_count_max) + " fragments");
  }
  if (message_is_deflated_) return check_deflated_size();
  if (payload_size_ > limits_.message_bytes_max - message_.size()) {
    return too_long(limits_.message_bytes_max);
  }
  return true;
}

// Blocks may be empty: a peer could otherwise keep us busy for ever, for no payload at all. The
// worst that an encoder makes of a payload is a little larger than it.
WebSocketDecoder::Step WebSocketDecoder::check_deflated_size() {
  constexpr std::uint64_t overhead = 1024;
  if (opcode_ != WebSocketOpcode::continuation) deflated_size_ = 0;
  const std::uint64_t limit = limits_.message_bytes_max;
  if (payload_size_ > std::numeric_limits<std::uint64_t>::max() / 2 - deflated_size_) {
    return too_long(limits_.message_bytes_max);
  }
  deflated_size_ += payload_size_;
  if (deflated_size_ > overhead && (deflated_size_ - overhead) / 2 > limit) {
    return too_long(limits_.message_bytes_max);
  }
  return true;
}

// A payload that came in one piece is left in `event`; otherwise it is collected.
bool WebSocketDecoder::read_payload(WebSocketEvent& event) {
  const auto left = payload_size_ - payload_taken_;
  const auto bytes = input_.first(std::min<std::uint64_t>(left, input_.size()));
  input_ = input_.subspan(bytes.size());
  event.payload = {};
  const bool is_alone = is_final_ && opcode_ != WebSocketOpcode::continuation;
  if (payload_taken_ == 0 && bytes.size() == left && is_alone && left <= scratch_bytes) {
    event.payload = bytes;
    if (is_masked_) {
      apply_websocket_mask(bytes, mask_, 0, scratch.data());
      event.payload = std::span(scratch).first(bytes.size());
    }
    payload_taken_ = payload_size_;
    return true;
  }
  collect(bytes);
  if (payload_taken_ < payload_size_) return false;
  if (is_control()) event.payload = std::span(control_).first(payload_size_);
  if (!is_control()) event.payload = message_.bytes();
  return true;
}

void WebSocketDecoder::read_piece(WebSocketEvent& event) {
  const std::uint64_t left = payload_size_ - payload_taken_;
  const std::uint64_t count = std::min<std::uint64_t>({left, input_.size(), scratch_bytes});
  event.opcode = message_opcode_;
  event.payload = input_.first(count);
  input_ = input_.subspan(count);
  if (is_masked_) {
    apply_websocket_mask(event.payload, mask_, payload_taken_, scratch.data());
    event.payload = std::span(scratch).first(count);
  }
  payload_taken_ += count;
  if (payload_taken_ < payload_size_) return;
  in_payload_ = false;
  if (is_final_) message_opcode_ = WebSocketOpcode::continuation;
}

void WebSocketDecoder::collect(std::span<const std::byte> bytes) {
  if (!bytes.empty()) {
    std::byte* const to =
        is_control() ? control_.data() + payload_taken_ : message_.room(bytes.size()).data();
    if (is_masked_) {
      apply_websocket_mask(bytes, mask_, payload_taken_, to);
    } else {
      std::memcpy(to, bytes.data(), bytes.size());
    }
    if (!is_control()) message_.commit(bytes.size());
  }
  payload_taken_ += bytes.size();
}

// Inflates what has arrived of the frame. The payload of the last one is left in `event`.
WebSocketDecoder::Step WebSocketDecoder::inflate_payload(WebSocketEvent& event) {
  if (inflation_ == nullptr) inflation_ = WebSocketInflation::lend();
  const auto left = payload_size_ - payload_taken_;
  auto bytes = input_.first(std::min<std::uint64_t>(left, input_.size()));
  input_ = input_.subspan(bytes.size());
  while (!bytes.empty()) {
    auto piece = bytes.first(std::min(bytes.size(), scratch_bytes));
    bytes = bytes.subspan(piece.size());
    const std::uint64_t offset = payload_taken_;
    payload_taken_ += piece.size();
    if (is_masked_) {
      apply_websocket_mask(piece, mask_, offset, scratch.data());
      piece = std::span(scratch).first(piece.size());
    }
    auto inflated = check_inflated(inflation_->put(piece, limits_.message_bytes_max));
    if (!inflated) return inflated;
  }
  if (payload_taken_ < payload_size_) return false;
  return is_final_ ? finish_inflation(event) : true;
}

WebSocketDecoder::Step WebSocketDecoder::finish_inflation(WebSocketEvent& event) {
  auto inflated = check_inflated(inflation_->finish(limits_.message_bytes_max));
  if (!inflated) return inflated;
  event.payload = inflation_->content();
  WebSocketInflation::give_back(std::move(inflation_));
  message_is_deflated_ = false;
  return true;
}

WebSocketDecoder::Step WebSocketDecoder::check_inflated(WebSocketInflation::Outcome outcome) {
  if (outcome != WebSocketInflation::Outcome::good) inflation_.reset();
  if (outcome == WebSocketInflation::Outcome::too_long) return too_long(limits_.message_bytes_max);
  if (outcome == WebSocketInflation::Outcome::invalid) {
    return violation(bad_data, "a message that does not inflate");
  }
  return true;
}

WebSocketDecoder::Step WebSocketDecoder::finish_frame(WebSocketEvent& event) {
  in_payload_ = false;
  event.opcode = opcode_;
  if (is_control()) return true;
  if (!is_final_) return false;
  event.opcode = std::exchange(message_opcode_, WebSocketOpcode::continuation);
  message_was_given_ = true;
  if (event.opcode == WebSocketOpcode::text && !is_utf8(text_of(event.payload))) {
    return violation(bad_data, "a text that is not UTF-8");
  }
  return true;
}

std::size_t encode_websocket_header(WebSocketOpcode opcode, std::size_t payload_size,
                                    const WebSocketMask* mask,
                                    std::span<std::byte, websocket_header_bytes_max> header,
                                    bool is_deflated) {
  header[0] = std::byte{0x80} | static_cast<std::byte>(opcode);
  if (is_deflated) header[0] |= std::byte{0x40};
  std::size_t extended = 0;
  std::byte length = static_cast<std::byte>(payload_size);
  if (payload_size > 0xffff) {
    extended = 8;
    length = std::byte{127};
  } else if (payload_size > 125) {
    extended = 2;
    length = std::byte{126};
  }
  header[1] = length;
  for (std::size_t index = 0; index < extended; ++index) {
    header[1 + extended - index] = static_cast<std::byte>(payload_size >> (8 * index));
  }
  if (mask == nullptr) return 2 + extended;
  header[1] |= std::byte{0x80};
  std::ranges::copy(*mask, header.begin() + static_cast<std::ptrdiff_t>(2 + extended));
  return 2 + extended + mask->size();
}

WebSocketMask random_websocket_mask() {
  thread_local std::array<std::byte, 1024> heap;
  thread_local std::size_t left = 0;
  if (left == 0) {
    fill_with_random_bytes(heap);
    left = heap.size();
  }
  WebSocketMask mask;
  left -= mask.size();
  std::memcpy(mask.data(), heap.data() + left, mask.size());
  return mask;
}

void apply_websocket_mask(std::span<const std::byte> from, const WebSocketMask& mask,
                          std::uint64_t offset, std::byte* to) {
  // The mask repeated over eight bytes, beginning at `offset`.
  std::array<std::byte, 8> wide;
  for (std::size_t index = 0; index < wide.size(); ++index) {
    wide[index] = mask[(offset + index) % mask.size()];
  }
  std::uint64_t wide_mask = 0;
  std::memcpy(&wide_mask, wide.data(), sizeof(wide_mask));
  std::size_t done = 0;
  for (; done + sizeof(wide_mask) <= from.size(); done += sizeof(wide_mask)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data() + done, sizeof(word));
    word ^= wide_mask;
    std::memcpy(to + done, &word, sizeof(word));
  }
  for (; done < from.size(); ++done) to[done] = from[done] ^ wide[done % wide.size()];
}

bool is_websocket_close_code(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

std::expected<WebSocketViolation, WebSocketViolation> read_websocket_close(
    std::span<const std::byte> payload) {
  constexpr std::uint16_t no_code = 1005;
  if (payload.empty()) return WebSocketViolation{.code = no_code, .reason = {}};
  if (payload.size() == 1) return violation(protocol_error, "a close frame with half a code");
  const auto code = static_cast<std::uint16_t>(big_endian(payload.first(2)));
  const auto reason = payload.subspan(2);
  if (!is_websocket_close_code(code)) {
    return violation(protocol_error, "no close frame has the code " + std::to_string(code));
  }
  if (!is_utf8(text_of(reason))) return violation(bad_data, "a reason that is not UTF-8");
  return WebSocketViolation{.code = code, .reason = std::string(text_of(reason))};
}

}  // namespace corolane::net::detail
