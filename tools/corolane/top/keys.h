// What a terminal sends when somebody presses keys.
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

// The keys of bytes that came together. An escape that nothing follows is the key of that name;
// sequences that it does not know are left out.
std::vector<Key> read_keys(std::string_view bytes);

}  // namespace corolane::tools::cli::top
