// SPDX-License-Identifier: MIT
// Attacks by table: one look-up for leaping pieces; for sliding pieces, the ray in each direction
// minus the ray that begins at its first blocker.
#include "services/chess/rules/detail/attacks.h"

#include <array>
#include <cstddef>
#include <utility>

namespace corolane::services::chess::rules::detail {
namespace {

using SquareTable = std::array<SquareSet, square_count>;

struct Step {
  int file;
  int rank;
};

// In the first four directions the number of the square grows. Even directions are a rook's, odd
// ones a bishop's.
constexpr std::array<Step, 8> directions{
    {{0, 1}, {1, 1}, {1, 0}, {-1, 1}, {0, -1}, {-1, -1}, {-1, 0}, {1, -1}}};
constexpr std::size_t growing_directions = 4;

// The square one step away: a set of one, or an empty set beyond the edge.
constexpr SquareSet stepped(Square square, Step step) {
  const int file = file_of(square) + step.file;
  const int rank = rank_of(square) + step.rank;
  if (file < 0 || file > 7 || rank < 0 || rank > 7) return {};
  return square_at(file, rank);
}

template <std::size_t count>
constexpr SquareTable leaps(const std::array<Step, count>& steps) {
  SquareTable table;
  for (const Square square : SquareSet::all()) {
    for (const Step step : steps) table[std::to_underlying(square)] |= stepped(square, step);
  }
  return table;
}

constexpr SquareTable rays(Step step) {
  SquareTable table;
  for (const Square square : SquareSet::all()) {
    for (SquareSet next = stepped(square, step); !next.empty();
         next = stepped(next.first(), step)) {
      table[std::to_underlying(square)] |= next;
    }
  }
  return table;
}

constexpr std::array<SquareTable, 2> pawn_table{leaps<2>({{{-1, 1}, {1, 1}}}),
                                                leaps<2>({{{-1, -1}, {1, -1}}})};
constexpr SquareTable knight_table =
    leaps<8>({{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}});
constexpr SquareTable king_table = leaps(directions);
constexpr std::array<SquareTable, 8> ray_table{
    rays(directions[0]), rays(directions[1]), rays(directions[2]), rays(directions[3]),
    rays(directions[4]), rays(directions[5]), rays(directions[6]), rays(directions[7])};

SquareSet slide(Square square, std::size_t direction, SquareSet occupied) {
  const SquareSet ray = ray_table[direction][std::to_underlying(square)];
  const SquareSet blockers = ray & occupied;
  if (blockers.empty()) return ray;
  const Square nearest = direction < growing_directions ? blockers.first() : blockers.last();
  return ray - ray_table[direction][std::to_underlying(nearest)];
}

}  // namespace

SquareSet pawn_attacks(Color color, Square square) {
  return pawn_table[std::to_underlying(color)][std::to_underlying(square)];
}

SquareSet knight_attacks(Square square) { return knight_table[std::to_underlying(square)]; }

SquareSet king_attacks(Square square) { return king_table[std::to_underlying(square)]; }

SquareSet bishop_attacks(Square square, SquareSet occupied) {
  return slide(square, 1, occupied) | slide(square, 3, occupied) | slide(square, 5, occupied) |
         slide(square, 7, occupied);
}

SquareSet rook_attacks(Square square, SquareSet occupied) {
  return slide(square, 0, occupied) | slide(square, 2, occupied) | slide(square, 4, occupied) |
         slide(square, 6, occupied);
}

SquareSet between(Square a, Square b) {
  if (file_of(a) == file_of(b) || rank_of(a) == rank_of(b)) {
    return rook_attacks(a, b) & rook_attacks(b, a);
  }
  if (bishop_attacks(a, {}).contains(b)) return bishop_attacks(a, b) & bishop_attacks(b, a);
  return {};
}

}  // namespace corolane::services::chess::rules::detail
