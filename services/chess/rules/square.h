// SPDX-License-Identifier: MIT
// The 64 squares of the board, and their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace corolane::services::chess::rules {

// clang-format off
enum class Square : std::uint8_t {
  a1, b1, c1, d1, e1, f1, g1, h1,
  a2, b2, c2, d2, e2, f2, g2, h2,
  a3, b3, c3, d3, e3, f3, g3, h3,
  a4, b4, c4, d4, e4, f4, g4, h4,
  a5, b5, c5, d5, e5, f5, g5, h5,
  a6, b6, c6, d6, e6, f6, g6, h6,
  a7, b7, c7, d7, e7, f7, g7, h7,
  a8, b8, c8, d8, e8, f8, g8, h8,
};
// clang-format on

inline constexpr int square_count = 64;

// Zero for the a-file, seven for the h-file.
constexpr int file_of(Square square) { return std::to_underlying(square) % 8; }
// Zero for rank 1, seven for rank 8.
constexpr int rank_of(Square square) { return std::to_underlying(square) / 8; }

// `file` and `rank` from zero to seven.
constexpr Square square_at(int file, int rank) { return static_cast<Square>(rank * 8 + file); }

constexpr char file_letter(int file) { return static_cast<char>('a' + file); }
constexpr char rank_digit(int rank) { return static_cast<char>('1' + rank); }

// Nothing when `letter` names no file.
constexpr std::optional<int> parse_file(char letter) {
  if (letter < 'a' || letter > 'h') return std::nullopt;
  return letter - 'a';
}

// Nothing when `digit` names no rank.
constexpr std::optional<int> parse_rank(char digit) {
  if (digit < '1' || digit > '8') return std::nullopt;
  return digit - '1';
}

// Nothing unless `name` is one of "a1" to "h8".
constexpr std::optional<Square> parse_square(std::string_view name) {
  if (name.size() != 2) return std::nullopt;
  const auto file = parse_file(name[0]);
  const auto rank = parse_rank(name[1]);
  if (!file || !rank) return std::nullopt;
  return square_at(*file, *rank);
}

// "e4".
inline std::string to_string(Square square) {
  return {file_letter(file_of(square)), rank_digit(rank_of(square))};
}

}  // namespace corolane::services::chess::rules
