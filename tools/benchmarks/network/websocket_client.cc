// SPDX-License-Identifier: MIT
#include "tools/benchmarks/network/websocket_client.h"

#include <array>

#include "tools/benchmarks/network/http_text.h"

namespace corolane::bench {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::array<std::byte, 4> no_mask{};

// Codes in place of a length, and the longest payload that needs none or the first.
constexpr std::uint8_t length_of_2_bytes = 126;
constexpr std::uint8_t length_of_8_bytes = 127;
constexpr std::size_t short_payload_max = 125;
constexpr std::size_t medium_payload_max = 0xffff;

// Appends the lowest `count` bytes of a number, the highest first.
void append_number(std::uint64_t number, std::size_t count, Bytes& out) {
  while (count > 0) out.push_back(static_cast<std::byte>(number >> 8 * --count));
}

// Reads `count` bytes, the highest first.
std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t count) {
  std::uint64_t number = 0;
  for (const std::byte byte : bytes.first(count)) {
    number = number << 8 | std::to_integer<std::uint64_t>(byte);
  }
  return number;
}

}  // namespace

std::string websocket_request(std::string_view target) {
  return "GET " + std::string(target) +
         " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
}

Result<std::size_t> websocket_answer_size(std::span<const std::byte> input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  const std::size_t size = http_message_size(text);
  if (size > 0 && !text.starts_with("HTTP/1.1 101 ")) {
    return Error(Code::internal, "the upgrade was answered with " + std::string(text));
  }
  return size;
}

void append_websocket_frame(std::uint8_t opcode, std::span<const std::byte> payload, Bytes& out) {
  const std::size_t size = payload.size();
  append_number(final_bit | opcode, 1, out);
  if (size <= short_payload_max) {
    append_number(mask_bit | size, 1, out);
  } else if (size <= medium_payload_max) {
    append_number(mask_bit | length_of_2_bytes, 1, out);
    append_number(size, 2, out);
  } else {
    append_number(mask_bit | length_of_8_bytes, 1, out);
    append_number(size, 8, out);
  }
  out.insert(out.end(), no_mask.begin(), no_mask.end());
  out.insert(out.end(), payload.begin(), payload.end());
}

WebSocketFrame first_websocket_frame(std::span<const std::byte> input) {
  constexpr std::size_t short_header = 2;
  if (input.size() < short_header) return {};
  const auto code = std::to_integer<std::uint8_t>(input[1]) & 0x7f;
  const std::size_t extended = code == length_of_8_bytes ? 8 : code == length_of_2_bytes ? 2 : 0;
  const std::size_t header_size = short_header + extended;
  if (input.size() < header_size) return {};
  const std::uint64_t payload_size = extended == 0
                                         ? static_cast<std::uint64_t>(code)
                                         : number_at(input.subspan(short_header), extended);
  if (input.size() - header_size < payload_size) return {};
  const auto payload = input.subspan(header_size, static_cast<std::size_t>(payload_size));
  return {.size = header_size + payload.size(),
          .opcode = static_cast<std::uint8_t>(std::to_integer<unsigned>(input[0]) & 0x0f),
          .payload = payload};
}

}  // namespace corolane::bench
