// SPDX-License-Identifier: MIT
// A fuzz target is a function that takes any bytes and aborts when a promise is broken.
//
// A promise is more than the absence of crashes: input has the same meaning in one piece and in
// many, and printed values are read back. check() names the promise that was broken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace corolane::fuzz {

using Bytes = std::span<const std::byte>;
// A flow of bytes in pieces.
using Pieces = std::vector<Bytes>;

// Consumes the input from its front. A target reads its choices first and passes the rest to the
// code under test, so that a corpus file is readable except for its first bytes.
class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}

  // 0 behind the end, so that every input is complete.
  std::uint8_t take_byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  // The first byte is the number of sizes that follow, one byte each: 0 is a piece of one byte, 255
  // one of 256.
  std::vector<std::size_t> take_cuts() {
    std::vector<std::size_t> sizes(std::min<std::size_t>(take_byte(), bytes_.size()));
    for (std::size_t& size : sizes) size = std::size_t{take_byte()} + 1;
    return sizes;
  }

  Bytes rest() const { return bytes_; }

 private:
  Bytes bytes_;
};

inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Cuts into pieces of these sizes; the remainder is the last piece.
inline Pieces cut(Bytes flow, std::span<const std::size_t> sizes) {
  Pieces pieces;
  for (const std::size_t size : sizes) {
    if (flow.empty()) break;
    const std::size_t count = std::min(size, flow.size());
    pieces.push_back(flow.first(count));
    flow = flow.subspan(count);
  }
  if (!flow.empty()) pieces.push_back(flow);
  return pieces;
}

inline Pieces cut_at_every_byte(Bytes flow) {
  return cut(flow, std::vector<std::size_t>(flow.size(), 1));
}

// Defined by every target.
void run(Input input);

}  // namespace corolane::fuzz
