// SPDX-License-Identifier: MIT
// How many bytes each connection may read per turn of the loop.
//
// Many when few connections are busy, so that each read is worth its system call; few when a
// thousand are flooded, so that a small request need not wait for all the large ones. Halved after
// each turn in which all connections together read too much, doubled after each turn in which they
// read little.
#pragma once

#include <algorithm>
#include <cstddef>

namespace corolane::net::detail {

class ReadShare {
 public:
  static constexpr std::size_t bytes_max = 64 * 1024;
  // A dozen small requests: reading less would cost more system calls than the waiting time that it
  // saves.
  static constexpr std::size_t bytes_min = 2 * 1024;
  // The bound for all connections in one turn: some thousand requests, a millisecond or two.
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
  std::size_t turn_bytes_ = 0;  // Read so far in this turn.
};

}  // namespace corolane::net::detail
