// SPDX-License-Identifier: MIT
#include "services/chess/token.h"

#include <array>
#include <bit>
#include <cstddef>

#include "net/crypto.h"

namespace corolane::services::chess {

Token new_token() {
  std::array<std::byte, sizeof(Token)> bytes;
  net::fill_with_random_bytes(bytes);
  return std::bit_cast<Token>(bytes) | 1;
}

}  // namespace corolane::services::chess
