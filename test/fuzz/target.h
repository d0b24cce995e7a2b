// What a fuzz target is: a function that takes any bytes and aborts when a promise is broken.
//
// A promise is more than that nothing crashes: what comes in one piece and what comes in many has
// the same meaning, and what was printed is read back. check() says which one was broken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace corolane::fuzz {

using Bytes = std::span<const std::byte>;
// A flow of bytes, cut where it was cut.
using Pieces = std::vector<Bytes>;

// Takes the input apart, from its front. A target reads its choices first and leaves the rest to
// what it tests, so that a file of the corpus is readable but for its first bytes.
class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}

  // 0 behind the end, so that every input is a whole one.
  std::uint8_t take_byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_ = bytes_.subspan(1);
    return byte;
  }

  // A byte says how many sizes follow, each a byte: 0 is a piece of one byte, 255 one of 256.
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

// Pieces of these sizes; what is left is the last one.
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

// Every target defines it.
void run(Input input);

}  // namespace corolane::fuzz
