// SPDX-License-Identifier: MIT
// Identifies a state of the directory, so that a store notices another one.
//
// The directory decides by its revisions when an owner of an object is later than another one. A
// directory that was replaced, or restored from a copy, would begin with earlier revisions, and two
// of its owners could have the same. So the store notes the directory that it belongs to. Operators
// let another one take over by raising its generation, which counts more than any revision.
//
//   const DirectoryMark now = {.id = "a1b2", .revision = 40, .generation = 0};
//   const DirectoryMark restored = {.id = "a1b2", .revision = 12, .generation = 0};
//   check(!restored.continues(now), "its revisions begin anew");
//   check(DirectoryMark::epoch(1, 12) > DirectoryMark::epoch(0, 40), "a later generation");
#pragma once

#include <cstdint>
#include <string>

namespace corolane::framework {

struct DirectoryMark {
  // The revisions of one generation; 34 years of a thousand changes each second.
  static constexpr unsigned revision_bits = 40;
  static constexpr std::uint64_t generation_max = (std::uint64_t{1} << (63 - revision_bits)) - 1;

  // Combines both to an epoch: the later one is larger.
  static constexpr std::uint64_t epoch(std::uint64_t generation, std::uint64_t revision) {
    return generation << revision_bits | revision;
  }

  std::string id;  // Drawn at random for an empty directory.
  std::uint64_t revision = 0;
  std::uint64_t generation = 0;

  friend bool operator==(const DirectoryMark&, const DirectoryMark&) = default;

  // Whether the owner of this mark continues what `noted` has begun.
  bool continues(const DirectoryMark& noted) const {
    return noted.id == id && noted.generation == generation && noted.revision <= revision;
  }
};

}  // namespace corolane::framework
