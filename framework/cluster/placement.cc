// SPDX-License-Identifier: MIT
#include "framework/cluster/placement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

namespace corolane::framework {
namespace {

// The finaliser of MurmurHash3 (Appleby), which spreads every bit over all.
std::uint64_t scramble(std::uint64_t value) {
  value = (value ^ value >> 33) * 0xff51afd7ed558ccd;
  value = (value ^ value >> 33) * 0xc4ceb9fe1a85ec53;
  return value ^ value >> 33;
}

std::uint64_t hash(std::string_view name, const Placement& placement) {
  std::uint64_t value = 0xcbf29ce484222325;
  const auto mix = [&value](std::string_view text) {
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    value = scramble(value);
  };
  mix(name);
  mix(placement.zone);
  mix(placement.role);
  return value;
}

// The members of one weight. Among these the largest hash wins, which needs no logarithm.
struct Class {
  std::uint64_t weight = 0;
  std::size_t count_max = 0;  // Each may own as many partitions.
  std::vector<std::uint64_t> hashes = {};
  std::vector<const Member*> members = {};
  std::vector<std::size_t> counts = {};

  void add(const Member& member, const Placement& placement) {
    hashes.push_back(hash(member.name, placement));
    members.push_back(&member);
    counts.push_back(0);
  }
  // Counts a partition of that member, which may be its last one.
  void count(std::size_t i) {
    if (++counts[i] == count_max) take_out(i);
  }
  void take_out(std::size_t i) {
    hashes[i] = hashes.back();
    members[i] = members.back();
    counts[i] = counts.back();
    hashes.pop_back();
    members.pop_back();
    counts.pop_back();
  }
};

std::vector<const Member*> candidates_of(std::span<const Member> members,
                                         const Placement& placement) {
  std::map<std::string_view, std::uint64_t> latest;
  for (const Member& member : members) {
    std::uint64_t& epoch = latest[member.name];
    epoch = std::max(epoch, member.epoch);
  }
  std::vector<const Member*> candidates;
  for (const Member& member : members) {
    if (member.is_draining || member.weight == 0 || !member.hosts(placement)) continue;
    if (latest[member.name] == member.epoch) candidates.push_back(&member);
  }
  return candidates;
}

bool all_know(std::uint32_t rule, std::span<const Member> members) {
  return std::ranges::all_of(
      members, [rule](const Member& member) { return member.placement_rule >= rule; });
}

// Those that host all types which most of them host, by weight; all of them when there is none.
std::vector<const Member*> without_minority(const std::vector<const Member*>& candidates,
                                            const Placement& placement) {
  std::uint64_t sum = 0;
  std::map<std::string_view, std::uint64_t> sums;  // By type.
  for (const Member* member : candidates) {
    sum += member->weight;
    const auto hosted = std::ranges::find(member->groups, placement, &PlacementGroup::placement);
    for (const std::string& type : hosted->types) sums[type] += member->weight;
  }
  std::vector<const Member*> eligible;
  std::ranges::copy_if(candidates, std::back_inserter(eligible), [&](const Member* member) {
    return std::ranges::all_of(sums, [&](const auto& each) {
      return 2 * each.second <= sum || member->hosts(placement, each.first);
    });
  });
  return eligible.empty() ? candidates : eligible;
}

// By weight.
std::vector<Class> classes_of(const std::vector<const Member*>& members,
                              const Placement& placement) {
  std::map<std::uint32_t, Class> classes;
  for (const Member* member : members) {
    Class& its = classes[member->weight];
    its.weight = member->weight;
    its.add(*member, placement);
  }
  std::vector<Class> all;
  for (auto& [weight, each] : classes) all.push_back(std::move(each));
  return all;
}

// The best draw of a class.
struct Best {
  std::size_t number = 0;
  std::uint64_t hash = 0;

  // Exponentially distributed with the weight as its mean; larger is better.
  double draw(std::uint64_t weight) const {
    const double uniform = (static_cast<double>(hash >> 11) + 0.5) * 0x1p-53;
    return -static_cast<double>(weight) / std::log(uniform);
  }
};

// A draw of the many partitions that only later builds know: one multiplication, whose halves are
// folded together (Wang Yi, wyhash), and no branch, which would be mispredicted. The lowest bits
// are the member's number.
constexpr unsigned number_bits = 16;

std::uint64_t draw_of_many(const Class& each, std::size_t i, std::uint64_t partition) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(each.hashes[i] ^ partition) * factor;
  const auto folded =
      static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  return (folded >> number_bits << number_bits) | i;
}

Best best_of_many(const Class& each, std::uint64_t partition) {
  partition = scramble(partition + 1);
  // Two at a time, so that one does not wait for the other.
  std::uint64_t even = 0;
  std::uint64_t odd = 0;
  const std::size_t count = each.hashes.size();
  for (std::size_t i = 1; i < count; i += 2) {
    even = std::max(even, draw_of_many(each, i - 1, partition));
    odd = std::max(odd, draw_of_many(each, i, partition));
  }
  if (count % 2 != 0) even = std::max(even, draw_of_many(each, count - 1, partition));
  const std::uint64_t best = std::max(even, odd);
  return {.number = best & ((std::uint64_t{1} << number_bits) - 1), .hash = best};
}

Best best_of(const Class& each, std::uint64_t partition) {
  Best best;
  for (std::size_t i = 0; i < each.hashes.size(); ++i) {
    const std::uint64_t hash = scramble(each.hashes[i] ^ partition);
    if (hash >= best.hash) best = {.number = i, .hash = hash};
  }
  return best;
}

// The class and the member of the best draw of all; the class is null when there is none.
struct Winner {
  Class* its_class = nullptr;
  std::size_t number = 0;
};

Winner draw(std::vector<Class>& classes, std::uint64_t partition, bool is_of_many) {
  Winner winner;
  double best_draw = 0;
  for (Class& each : classes) {
    if (each.hashes.empty()) continue;
    const Best best = is_of_many ? best_of_many(each, partition) : best_of(each, partition);
    const double drawn = classes.size() == 1 ? 1 : best.draw(each.weight);
    if (winner.its_class != nullptr && drawn <= best_draw) continue;
    winner = {.its_class = &each, .number = best.number};
    best_draw = drawn;
  }
  return winner;
}

// The member of that name; the class is null when there is none, or it has its share already.
Winner find(std::vector<Class>& classes, std::string_view name) {
  for (Class& each : classes) {
    const auto found = std::ranges::find(each.members, name, &Member::name);
    if (found != each.members.end()) {
      return {.its_class = &each, .number = static_cast<std::size_t>(found - each.members.begin())};
    }
  }
  return {};
}

void limit(std::vector<Class>& classes, std::size_t partition_count) {
  std::uint64_t sum = 0;
  for (const Class& each : classes) sum += each.weight * each.members.size();
  for (Class& each : classes) {
    const std::uint64_t share = partition_count * each.weight;  // Times `sum`.
    each.count_max = std::max((share + sum - 1) / sum, share * 11 / (sum * 10));
  }
}

}  // namespace

std::vector<const Member*> possible_owners(std::span<const Member> members,
                                           const Placement& placement) {
  const std::vector<const Member*> candidates = candidates_of(members, placement);
  return all_know(2, members) ? without_minority(candidates, placement) : candidates;
}

std::vector<const Member*> choose_owners(std::span<const Member> members,
                                         const Placement& placement, const Pins& pins) {
  // All that have objects have the same.
  std::size_t partition_count = partition_count_min;
  for (const Member& member : members) {
    partition_count = std::max(partition_count, member.partition_count);
  }
  std::vector<const Member*> owners(partition_count);
  const bool is_bounded = all_know(2, members);
  std::vector<Class> classes = classes_of(possible_owners(members, placement), placement);
  if (is_bounded) limit(classes, partition_count);
  if (all_know(3, members)) {
    for (const auto& [partition, pin] : pins) {
      const Winner pinned = find(classes, pin.node);
      if (pinned.its_class == nullptr || partition >= partition_count) continue;
      owners[partition] = pinned.its_class->members[pinned.number];
      pinned.its_class->count(pinned.number);
    }
  }
  for (std::size_t i = 0; i < partition_count; ++i) {
    if (owners[i] != nullptr) continue;
    const Winner winner = draw(classes, i, partition_count > partition_count_min);
    if (winner.its_class == nullptr) continue;
    owners[i] = winner.its_class->members[winner.number];
    if (is_bounded) winner.its_class->count(winner.number);
  }
  return owners;
}

}  // namespace corolane::framework
