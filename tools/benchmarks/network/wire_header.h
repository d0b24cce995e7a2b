// SPDX-License-Identifier: MIT
// The header of a frame (rpc/wire/frame.h) as a struct: the floor and the generator read and write
// it without the checks that a product needs.
#pragma once

#include <bit>
#include <cstdint>

namespace corolane::bench {

struct WireHeader {
  std::uint32_t payload_size = 0;
  std::uint8_t type = 0;  // A rpc::FrameType.
  std::uint8_t code = 0;
  std::uint8_t flags = 0;
  std::uint8_t zero = 0;
  std::uint64_t call_id = 0;
  std::uint64_t method_id = 0;
  std::uint32_t time = 0;
  std::uint32_t extension_size = 0;
};
static_assert(sizeof(WireHeader) == 32);
static_assert(std::endian::native == std::endian::little, "numbers on the wire are little-endian");

}  // namespace corolane::bench
