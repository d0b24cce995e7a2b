// SPDX-License-Identifier: MIT
#include "tools/corolane/top/keys.h"

#include <algorithm>
#include <array>

namespace corolane::tools::cli::top {
namespace {

struct Sequence {
  std::string_view bytes;  // After the escape byte.
  Key::Kind kind;
};

constexpr auto sequences = std::to_array<Sequence>({{"[A", Key::Kind::up},
                                                    {"OA", Key::Kind::up},
                                                    {"[B", Key::Kind::down},
                                                    {"OB", Key::Kind::down},
                                                    {"[5~", Key::Kind::page_up},
                                                    {"[6~", Key::Kind::page_down},
                                                    {"[H", Key::Kind::home},
                                                    {"OH", Key::Kind::home},
                                                    {"[1~", Key::Kind::home},
                                                    {"[F", Key::Kind::end},
                                                    {"OF", Key::Kind::end},
                                                    {"[4~", Key::Kind::end}});

// The length of the escape sequence at the beginning of `rest`, ECMA-48: parameters, then a byte
// from @ to ~.
std::size_t sequence_length(std::string_view rest) {
  if (rest.empty() || (rest[0] != '[' && rest[0] != 'O')) return 0;
  const auto last = std::find_if(rest.begin() + 1, rest.end(),
                                 [](char byte) { return byte >= '@' && byte <= '~'; });
  return last == rest.end() ? rest.size() : static_cast<std::size_t>(last - rest.begin()) + 1;
}

}  // namespace

std::vector<Key> read_keys(std::string_view bytes) {
  std::vector<Key> keys;
  while (!bytes.empty()) {
    const char byte = bytes.front();
    bytes.remove_prefix(1);
    if (byte == '\r' || byte == '\n') {
      keys.push_back({.kind = Key::Kind::enter});
    } else if (byte != '\x1b') {
      keys.push_back({.character = byte});
    } else if (const std::size_t length = sequence_length(bytes); length == 0) {
      keys.push_back({.kind = Key::Kind::escape});
    } else {
      const auto found = std::ranges::find(sequences, bytes.substr(0, length), &Sequence::bytes);
      if (found != sequences.end()) keys.push_back({.kind = found->kind});
      bytes.remove_prefix(length);
    }
  }
  return keys;
}

}  // namespace corolane::tools::cli::top
