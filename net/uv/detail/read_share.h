// How many bytes each connection may be read per turn of the loop.
//
// Many for a few that are busy, so that each read is worth its system call; few when a thousand are
// flooded, so that whoever asks for little is not served after all that the others ask for. Halved
// after each turn in which all of them together brought too much, doubled after each that brought
// little.
#pragma once

#include <algorithm>
#include <cstddef>

namespace corolane::net::detail {

class ReadShare {
 public:
  static constexpr std::size_t bytes_max = 64 * 1024;
  // A dozen small requests: less would cost more system calls than it saves others time.
  static constexpr std::size_t bytes_min = 2 * 1024;
  // Of all connections in one turn: some thousand requests, a millisecond or two.
  static constexpr std::size_t turn_bytes_max = 512 * 1024;

  std::size_t bytes() const { return bytes_; }
  void note(std::size_t read_bytes) { turn_bytes_ += read_bytes; }
  void end_turn() {
    if (turn_bytes_ > turn_bytes_max) {
      bytes_ = std::max(bytes_ / 2, bytes_min);
    } else if (turn_bytes_ < turn_bytes_max / 4) {
      bytes_ = std::min(bytes_ * 2, bytes_max);
    }
    turn_bytes_ = 0;
  }

 private:
  std::size_t bytes_ = bytes_max;
  std::size_t turn_bytes_ = 0;  // So far.
};

}  // namespace corolane::net::detail
