// SPDX-License-Identifier: MIT
#include "framework/cluster/balancer.h"

#include <algorithm>
#include <utility>

#include "framework/cluster/placement.h"

namespace corolane::framework {
namespace {

// A shard of a node that has told its load.
struct Shard {
  std::map<PartitionPlace, double> cores = {};
  double sum = 0;
  bool is_settled = false;  // No move from here is a gain.
};

struct Node {
  const Member* member;
  std::vector<Shard> shards;

  Shard& shard_of(const PartitionPlace& place) { return shards[place.partition % shards.size()]; }
};

std::vector<Node> nodes_of(std::span<const Member> members, std::span<const NodeLoad> loads) {
  std::vector<Node> nodes;
  for (const NodeLoad& load : loads) {
    const auto member = std::ranges::find(members, load.node, &Member::name);
    if (member == members.end() || member->shards.empty()) continue;
    Node& node = nodes.emplace_back(&*member, std::vector<Shard>(member->shards.size()));
    for (const auto& [place, cores] : load.cores) {
      Shard& shard = node.shard_of(place);
      shard.cores[place] += cores;
      shard.sum += cores;
    }
  }
  return nodes;
}

const Pin* find_pin(const std::map<Placement, Pins>& pins, const PartitionPlace& place) {
  const auto group = pins.find(place.placement);
  if (group == pins.end()) return nullptr;
  const auto pin = group->second.find(place.partition);
  return pin == group->second.end() ? nullptr : &pin->second;
}

class Balance {
 public:
  Balance(std::span<const Member> members, const std::map<Placement, Pins>& pins,
          std::span<const NodeLoad> loads, const BalanceOptions& options)
      : members_(members), pins_(pins), options_(options), nodes_(nodes_of(members, loads)) {}

  std::vector<BalanceMove> moves() && {
    const auto knows_pins = [](const Member& member) {
      return member.placement_rule >= rule_with_pins;
    };
    // Otherwise pins have no effect, and all would have it at once when the last such member goes.
    if (!std::ranges::all_of(members_, knows_pins)) return {};
    let_useless_go();
    while (moves_.size() < options_.move_count_max) {
      const auto [node, shard] = fullest();
      if (shard == nullptr) break;
      const Best best = best_of(*node, *shard);
      if (best.to == nullptr) {
        shard->is_settled = true;
      } else {
        move(*node, *shard, best);
      }
    }
    keep_within_limit();
    return std::move(moves_);
  }

 private:
  using Owners = std::map<Placement, std::vector<const Member*>>;

  struct Best {
    Node* to = nullptr;
    PartitionPlace place = {};
    // After the move: the fuller one of both shards, and the one that gets the partition.
    std::pair<double, double> sums = {};
  };

  // Pins of the balancer that nothing needs any more, at most half of the moves.
  void let_useless_go() {
    for (const auto& [placement, pins] : pins_) {
      for (const auto& [partition, pin] : pins) {
        if (moves_.size() >= options_.move_count_max / 2) return;
        if (!pin.is_by_balancer) continue;
        const PartitionPlace place{placement, partition};
        if (is_useful(place, pin)) continue;
        moves_.push_back({.place = place, .from = pin.node, .pin = {}});
      }
    }
  }

  // A partition that its owner has not handed over yet computes elsewhere.
  bool is_useful(const PartitionPlace& place, const Pin& pin) {
    if (std::ranges::find(members_, pin.node, &Member::name) == members_.end()) return false;
    const bool is_known = std::ranges::any_of(
        nodes_, [&](const Node& node) { return node.member->name == pin.node; });
    if (!is_known) return true;
    return std::ranges::any_of(nodes_, [&](Node& node) {
      const auto& computing = node.shard_of(place).cores;
      const auto load = computing.find(place);
      return load != computing.end() && load->second >= options_.idle_cores;
    });
  }

  std::pair<Node*, Shard*> fullest() {
    std::pair<Node*, Shard*> found = {nullptr, nullptr};
    double sum = options_.full_cores;
    for (Node& node : nodes_) {
      for (Shard& shard : node.shards) {
        if (shard.is_settled || shard.sum < sum) continue;
        found = {&node, &shard};
        sum = shard.sum;
      }
    }
    return found;
  }

  Best best_of(const Node& from, const Shard& shard) {
    Best best;
    for (const auto& [place, cores] : shard.cores) {
      const Pin* const pin = find_pin(pins_, place);
      if ((pin != nullptr && !pin->is_by_balancer) || has_moved(place)) continue;
      for (Node& to : nodes_) {
        if (&to == &from || !may_own(to, place.placement)) continue;
        const double there = to.shard_of(place).sum + cores;
        if (there + options_.margin_cores > shard.sum) continue;
        const std::pair sums = {std::max(shard.sum - cores, there), there};
        if (best.to != nullptr && sums >= best.sums) continue;
        best = {.to = &to, .place = place, .sums = sums};
      }
    }
    return best;
  }

  void move(const Node& from, Shard& shard, const Best& best) {
    const double cores = shard.cores.extract(best.place).mapped();
    Shard& to = best.to->shard_of(best.place);
    shard.sum -= cores;
    to.sum += cores;
    to.cores[best.place] += cores;
    moves_.push_back({.place = best.place,
                      .from = from.member->name,
                      .pin = Pin{.node = best.to->member->name, .is_by_balancer = true},
                      .cores = cores});
  }

  // A pin to a node that has its maximum sends another partition of it elsewhere.
  void keep_within_limit() {
    const Owners before = owners_with(pins_);
    while (moves_.size() > 1) {
      const std::size_t count = moved_count(before, owners_with(pins_after()));
      if (count <= options_.move_count_max) return;
      const std::size_t excess = moves_.size() * (count - options_.move_count_max) / count;
      moves_.resize(moves_.size() - std::max<std::size_t>(excess, 1));
    }
  }

  std::map<Placement, Pins> pins_after() const {
    auto pins = pins_;
    for (const BalanceMove& move : moves_) {
      Pins& of_group = pins[move.place.placement];
      if (move.pin) {
        of_group.insert_or_assign(move.place.partition, *move.pin);
      } else {
        of_group.erase(move.place.partition);
      }
    }
    return pins;
  }

  Owners owners_with(const std::map<Placement, Pins>& pins) const {
    Owners owners;
    for (const BalanceMove& move : moves_) owners.try_emplace(move.place.placement);
    for (auto& [placement, its] : owners) {
      const auto its_pins = pins.find(placement);
      its = choose_owners(members_, placement, its_pins == pins.end() ? Pins() : its_pins->second);
    }
    return owners;
  }

  static std::size_t moved_count(const Owners& before, const Owners& after) {
    std::size_t count = 0;
    for (const auto& [placement, owners] : after) {
      const auto& former = before.at(placement);
      for (std::size_t i = 0; i < owners.size(); ++i) count += owners[i] != former[i] ? 1 : 0;
    }
    return count;
  }

  bool has_moved(const PartitionPlace& place) const {
    return std::ranges::find(moves_, place, &BalanceMove::place) != moves_.end();
  }

  bool may_own(const Node& node, const Placement& placement) {
    const auto [place, is_new] = owners_.try_emplace(placement);
    if (is_new) place->second = possible_owners(members_, placement);
    return std::ranges::find(place->second, node.member) != place->second.end();
  }

  const std::span<const Member> members_;
  const std::map<Placement, Pins>& pins_;
  const BalanceOptions& options_;
  std::vector<Node> nodes_;
  Owners owners_;
  std::vector<BalanceMove> moves_;
};

}  // namespace

std::vector<BalanceMove> choose_moves(std::span<const Member> members,
                                      const std::map<Placement, Pins>& pins,
                                      std::span<const NodeLoad> loads,
                                      const BalanceOptions& options) {
  return Balance(members, pins, loads, options).moves();
}

}  // namespace corolane::framework
