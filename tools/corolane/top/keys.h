// SPDX-License-Identifier: MIT
// Reads key presses from the bytes that a terminal sends.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace corolane::tools::cli::top {

struct Key {
  enum class Kind : std::uint8_t {
    character,
    up,
    down,
    page_up,
    page_down,
    home,
    end,
    enter,
    escape
  };

  Kind kind = Kind::character;
  char character = 0;

  friend bool operator==(Key, Key) = default;
};

// The keys in bytes that arrived together. A lone escape byte is the escape key; unknown sequences
// are skipped.
std::vector<Key> read_keys(std::string_view bytes);

}  // namespace corolane::tools::cli::top
