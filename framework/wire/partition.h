// SPDX-License-Identifier: MIT
// The id of an object, and the partition that the object belongs to, which determines its node.
//
//   const Partition partition = partition_of("chess.Game", "17");
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corolane::framework {

using Partition = std::uint16_t;

// The longest id of an object, for every caller: ids are kept in every table, in the store and in
// its index, and none of those has room for ids of any length.
inline constexpr std::size_t object_id_bytes_max = 256;

// Fixed for the life of a cluster.
inline constexpr std::size_t partition_count = 1'024;

// The partitions of the objects of one type: the 64-bit FNV-1a hash (draft-eastlake-fnv) of the
// type's full name, a zero byte and the id, its halves folded together. Changing it moves every
// object: test/framework/wire/partition_test.cc has vectors.
class PartitionHash {
 public:
  constexpr explicit PartitionHash(std::string_view type)
      : begin_(mix(mix(0xcbf29ce484222325, type), std::string_view("\0", 1))) {}

  constexpr Partition operator()(std::string_view id) const {
    const std::uint64_t hash = mix(begin_, id);
    return static_cast<Partition>((hash ^ hash >> 32) % partition_count);
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
  }

  std::uint64_t begin_;
};

constexpr Partition partition_of(std::string_view type, std::string_view id) {
  return PartitionHash(type)(id);
}

}  // namespace corolane::framework
