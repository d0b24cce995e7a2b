// SPDX-License-Identifier: MIT
// The id of an object, and the partition that the object belongs to, which determines its node.
//
//   const Partition partition = partition_of("chess.Game", "17", 16'384);
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corolane::framework {

using Partition = std::uint16_t;

// The longest id of an object, for every caller: ids are kept in every table, in the store and in
// its index, and none of those has room for ids of any length.
inline constexpr std::size_t object_id_bytes_max = 256;

// The number of partitions is a power of two between these. It is chosen when a store is first used
// (Store::partition_count()), and fixed for the life of that store. Former builds, and stores that
// belong to one process, have the smallest number.
inline constexpr std::size_t partition_count_min = 1'024;
inline constexpr std::size_t partition_count_max = 16'384;

constexpr bool is_partition_count(std::uint64_t count) {
  return count >= partition_count_min && count <= partition_count_max && (count & (count - 1)) == 0;
}

// The partitions of the objects of one type: the 64-bit FNV-1a hash (draft-eastlake-fnv) of the
// type's full name, a zero byte and the id, its halves folded together. Changing it moves every
// object: test/framework/wire/partition_test.cc has vectors.
//
// Types of one affinity (HostOptions::affinity) have its name in the place of the type, a one byte
// in the place of the zero byte, and the id up to its first slash.
class PartitionHash {
 public:
  constexpr explicit PartitionHash(std::string_view type,
                                   std::size_t partition_count = partition_count_min)
      : begin_(mix(mix(0xcbf29ce484222325, type), std::string_view("\0", 1))),
        mask_(partition_count - 1) {}

  static constexpr PartitionHash of_affinity(std::string_view affinity,
                                             std::size_t partition_count) {
    PartitionHash hash({}, partition_count);
    hash.begin_ = mix(mix(0xcbf29ce484222325, affinity), std::string_view("\1", 1));
    hash.has_affinity_ = true;
    return hash;
  }

  constexpr Partition operator()(std::string_view id) const {
    if (has_affinity_) id = id.substr(0, id.find('/'));
    const std::uint64_t hash = mix(begin_, id);
    return static_cast<Partition>((hash ^ hash >> 32) & mask_);
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t hash, std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
  }

  std::uint64_t begin_;
  std::uint64_t mask_;
  bool has_affinity_ = false;
};

constexpr Partition partition_of(std::string_view type, std::string_view id,
                                 std::size_t partition_count = partition_count_min) {
  return PartitionHash(type, partition_count)(id);
}

}  // namespace corolane::framework
