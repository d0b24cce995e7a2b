// SPDX-License-Identifier: MIT
// Colours and pieces, with their names and letters in notations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace corolane::services::chess::rules {

enum class Color : std::uint8_t { white, black };

inline constexpr std::array colors{Color::white, Color::black};

constexpr Color opponent_of(Color color) {
  return color == Color::white ? Color::black : Color::white;
}

constexpr std::string_view to_string(Color color) {
  return color == Color::white ? "white" : "black";
}

enum class PieceKind : std::uint8_t { pawn, knight, bishop, rook, queen, king };

inline constexpr std::array piece_kinds{PieceKind::pawn, PieceKind::knight, PieceKind::bishop,
                                        PieceKind::rook, PieceKind::queen,  PieceKind::king};

// The kinds that a pawn may become, in the order in which legal_moves lists them.
inline constexpr std::array promotion_kinds{PieceKind::queen, PieceKind::rook, PieceKind::bishop,
                                            PieceKind::knight};

constexpr std::string_view to_string(PieceKind kind) {
  constexpr std::array<std::string_view, 6> names{"pawn", "knight", "bishop",
                                                  "rook", "queen",  "king"};
  return names[std::to_underlying(kind)];
}

// The English letter in upper case: 'P', 'N', 'B', 'R', 'Q' or 'K'.
constexpr char letter_of(PieceKind kind) {
  return std::string_view("PNBRQK")[std::to_underlying(kind)];
}

// Nothing unless `letter` is one that letter_of() returns.
constexpr std::optional<PieceKind> kind_from_letter(char letter) {
  for (const PieceKind kind : piece_kinds) {
    if (letter_of(kind) == letter) return kind;
  }
  return std::nullopt;
}

struct Piece {
  Color color = Color::white;
  PieceKind kind = PieceKind::pawn;

  friend constexpr bool operator==(Piece, Piece) = default;
};

}  // namespace corolane::services::chess::rules
