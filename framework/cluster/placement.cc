// SPDX-License-Identifier: MIT
#include "framework/cluster/placement.h"

#include <cmath>
#include <cstdint>
#include <string_view>

namespace corolane::framework {
namespace {

// The finaliser of MurmurHash3 (Appleby), which spreads every bit over all.
std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

std::uint64_t hash(std::string_view name, const Placement& placement, Partition partition) {
  std::uint64_t value = 0xcbf29ce484222325;
  const auto mix = [&value](std::string_view text) {
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    value = scramble(value);
  };
  mix(name);
  mix(placement.zone);
  mix(placement.role);
  return scramble(value ^ partition);
}

// Larger is better; exponentially distributed with the weight as its mean.
double draw(const Member& member, const Placement& placement, Partition partition) {
  const std::uint64_t bits = hash(member.name, placement, partition) >> 11;
  const double uniform = (static_cast<double>(bits) + 0.5) * 0x1p-53;
  return -static_cast<double>(member.weight) / std::log(uniform);
}

bool is_superseded(std::span<const Member> members, const Member& member) {
  for (const Member& other : members) {
    if (other.name == member.name && other.epoch > member.epoch) return true;
  }
  return false;
}

}  // namespace

const Member* choose_owner(std::span<const Member> members, const Placement& placement,
                           Partition partition) {
  const Member* best = nullptr;
  double best_draw = 0;
  for (const Member& member : members) {
    if (member.is_draining || member.weight == 0 || !member.hosts(placement)) continue;
    if (is_superseded(members, member)) continue;
    const double drawn = draw(member, placement, partition);
    if (best == nullptr || drawn > best_draw) {
      best = &member;
      best_draw = drawn;
    }
  }
  return best;
}

}  // namespace corolane::framework
