// SPDX-License-Identifier: MIT
#include "net/http/percents.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace corolane::net {

bool read_percents(std::string_view text, char plus, std::string& decoded) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? plus : text[i];
      continue;
    }
    std::uint8_t byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, problem] =
        std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (problem != std::errc() || digits.size() < 2 || end != digits.data() + 2) return false;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

}  // namespace corolane::net
