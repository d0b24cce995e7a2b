// SPDX-License-Identifier: MIT
// A set of squares in one machine word, so that questions about the whole board ("which of my
// pieces stand on this line?") take a few bit operations.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>

#include "services/chess/rules/square.h"

namespace corolane::services::chess::rules {

class SquareSet {
 public:
  // Visits the squares from a1 to h8, rank by rank.
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint64_t bits) : bits_(bits) {}

    constexpr Square operator*() const { return static_cast<Square>(std::countr_zero(bits_)); }
    constexpr Iterator& operator++() {
      bits_ &= bits_ - 1;
      return *this;
    }
    constexpr bool operator==(std::default_sentinel_t) const { return bits_ == 0; }

   private:
    std::uint64_t bits_;
  };

  constexpr SquareSet() = default;
  // Bit zero is a1, bit 63 is h8.
  constexpr explicit SquareSet(std::uint64_t bits) : bits_(bits) {}
  // Implicit: a square is a set of one.
  constexpr SquareSet(Square square) : bits_(std::uint64_t{1} << std::to_underlying(square)) {}

  static constexpr SquareSet all() { return SquareSet(~std::uint64_t{0}); }
  static constexpr SquareSet rank(int rank) { return SquareSet(std::uint64_t{0xFF} << (rank * 8)); }

  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool contains(Square square) const { return !(*this & square).empty(); }
  constexpr bool intersects(SquareSet other) const { return !(*this & other).empty(); }

  // The first and last square in the order of the iterator; the set must not be empty.
  constexpr Square first() const { return static_cast<Square>(std::countr_zero(bits_)); }
  constexpr Square last() const { return static_cast<Square>(63 - std::countl_zero(bits_)); }

  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr std::default_sentinel_t end() const { return {}; }

  friend constexpr SquareSet operator|(SquareSet a, SquareSet b) {
    return SquareSet(a.bits_ | b.bits_);
  }
  friend constexpr SquareSet operator&(SquareSet a, SquareSet b) {
    return SquareSet(a.bits_ & b.bits_);
  }
  // The squares of `a` that are not in `b`.
  friend constexpr SquareSet operator-(SquareSet a, SquareSet b) {
    return SquareSet(a.bits_ & ~b.bits_);
  }
  constexpr SquareSet& operator|=(SquareSet other) { return *this = *this | other; }
  constexpr SquareSet& operator&=(SquareSet other) { return *this = *this & other; }
  constexpr SquareSet& operator-=(SquareSet other) { return *this = *this - other; }

  friend constexpr bool operator==(SquareSet, SquareSet) = default;

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace corolane::services::chess::rules
