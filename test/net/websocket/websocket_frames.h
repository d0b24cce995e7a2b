// SPDX-License-Identifier: MIT
// Frames of RFC 6455 for tests, valid or not.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace corolane::net {

inline std::string frame_header(unsigned first, std::size_t size, unsigned mask_bit) {
  std::string header(1, static_cast<char>(first));
  std::size_t extended = 0;
  if (size > 0xffff) {
    extended = 8;
  } else if (size > 125) {
    extended = 2;
  }
  const std::size_t length = extended == 8 ? 127 : extended == 2 ? 126 : size;
  header += static_cast<char>(mask_bit | length);
  for (; extended > 0; --extended) header += static_cast<char>(size >> (8 * (extended - 1)) & 0xff);
  return header;
}

// A frame of a server. `first` is FIN, the reserved bits and the opcode.
inline std::string bare_frame(unsigned first, std::string_view payload) {
  return frame_header(first, payload.size(), 0).append(payload);
}

// A frame of a client.
inline std::string masked_frame(unsigned first, std::string_view payload) {
  constexpr std::array<unsigned char, 4> mask = {0x37, 0xfa, 0x21, 0x3d};
  std::string frame = frame_header(first, payload.size(), 0x80);
  for (const unsigned char byte : mask) frame += static_cast<char>(byte);
  for (std::size_t at = 0; at < payload.size(); ++at) {
    frame += static_cast<char>(static_cast<unsigned char>(payload[at]) ^ mask[at % mask.size()]);
  }
  return frame;
}

}  // namespace corolane::net
