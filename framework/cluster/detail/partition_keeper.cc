// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/partition_keeper.h"

#include <algorithm>
#include <set>
#include <utility>

#include "coroutine/task.h"
#include "framework/cluster/detail/owner_lookup.h"
#include "framework/cluster/detail/seeded_bugs.h"
#include "framework/cluster/placement.h"

namespace corolane::framework::detail {
namespace {

using Field = Directory::Condition::Field;

// Splits a batch into one piece per transaction.
template <typename Batch>
std::vector<Batch> cut(const Batch& whole, std::size_t size_max) {
  std::vector<Batch> pieces;
  for (std::size_t i = 0; i < whole.partitions.size(); i += size_max) {
    Batch& piece = pieces.emplace_back(whole);
    const auto begin = whole.partitions.begin() + static_cast<std::ptrdiff_t>(i);
    const std::size_t size = std::min(size_max, whole.partitions.size() - i);
    piece.partitions.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
  }
  return pieces;
}

// etcd takes transactions of 128 conditions by default: one for each partition, and one for each of
// the nodes.
constexpr std::size_t partitions_per_transaction_max = 60;

std::size_t per_transaction(std::size_t count, const PartitionKeeper::Group& group) {
  const std::size_t times = group.ownership->partition_count() / partition_count_min;
  return std::max(count, std::min(count * times, partitions_per_transaction_max));
}

}  // namespace

PartitionKeeper::PartitionKeeper(Directory& directory, ClusterTable& table, const Member& self,
                                 std::vector<Group> groups, Tenants& tenants, Log& log,
                                 const Options& options)
    : directory_(directory),
      table_(table),
      self_(self),
      name_(ClusterTable::name_of(self)),
      groups_(std::move(groups)),
      tenants_(tenants),
      log_(log),
      options_(options) {}

bool PartitionKeeper::is_mine(const ClusterTable::Ownership& ownership) const {
  return ownership.node_epoch == self_.epoch && ownership.owner == name_;
}

void PartitionKeeper::adopt() {
  const bool adopts_all = std::exchange(adopted_change_count_, table_.whole_change_count()) !=
                          table_.whole_change_count();
  for (const Group& group : groups_) {
    const std::vector<Partition> changed = table_.take_changed(group.placement);
    if (!adopts_all) {
      for (const Partition partition : changed) adopt(group, partition);
      continue;
    }
    for (std::size_t i = 0; i < group.ownership->partition_count(); ++i) {
      adopt(group, static_cast<Partition>(i));
    }
  }
}

void PartitionKeeper::adopt(const Group& group, Partition partition) {
  if (partition >= group.ownership->partition_count()) return;
  const auto& known = table_.ownerships(group.placement)[partition];
  Ownership::Epoch epoch = is_mine(known) ? table_.epoch_of(known) : 0;
  if (epoch != 0 && COROLANE_SEEDED_BUG(generation_ignored)) epoch = known.revision;
  if (group.ownership->epoch(partition) == epoch) return;
  if (epoch == 0 && COROLANE_SEEDED_BUG(cache_without_epoch)) return;
  group.ownership->set_epoch(partition, epoch);
}

std::size_t PartitionKeeper::owned_count() const {
  std::size_t count = 0;
  for (const Group& group : groups_) count += group.ownership->owned_count();
  return count;
}

// Rebuilt when the members or the pins have changed.
const PartitionKeeper::Plan& PartitionKeeper::plan() {
  if (plan_.change_count == table_.placement_change_count()) return plan_;
  plan_.change_count = table_.placement_change_count();
  plan_.members = table_.members();
  plan_.epochs.clear();
  for (const Member& member : plan_.members) plan_.epochs.push_back(member.epoch);
  std::ranges::sort(plan_.epochs);
  plan_.targets.clear();
  for (const Group& group : groups_) {
    plan_.targets.push_back(
        choose_owners(plan_.members, group.placement, table_.pins(group.placement)));
    plan_.targets.back().resize(group.ownership->partition_count());
  }
  return plan_;
}

// Partitions that should be ours and whose last owner, if any, is gone.
std::vector<PartitionKeeper::Batch> PartitionKeeper::claims() {
  const auto& targets = plan().targets;
  // Epochs of members are unique.
  const auto is_there = [this](std::uint64_t epoch) {
    return std::ranges::binary_search(plan_.epochs, epoch);
  };
  std::vector<Batch> claims;
  for (const Group& group : groups_) {
    Batch whole{.group = &group, .to = name_, .to_epoch = self_.epoch, .partitions = {}};
    const auto& known = table_.ownerships(group.placement);
    for (std::size_t i = 0; i < group.ownership->partition_count(); ++i) {
      const auto partition = static_cast<Partition>(i);
      if (is_there(known[i].node_epoch) || moves(group, partition)) continue;
      const Member* const target = targets[number_of(group)][i];
      if (target == nullptr || target->epoch != self_.epoch) continue;
      whole.partitions.push_back(partition);
    }
    std::ranges::move(cut(whole, per_transaction(options_.claim_count_max, group)),
                      std::back_inserter(claims));
  }
  return claims;
}

// The future owner of a partition of ours; null when it stays, or no other node may own it.
const Member* PartitionKeeper::heir_of(const Group& group, Partition partition) {
  if (!is_mine(table_.ownerships(group.placement)[partition])) return nullptr;
  const Member* const target = plan_.targets[number_of(group)][partition];
  return target == nullptr || target->epoch == self_.epoch ? nullptr : target;
}

std::size_t PartitionKeeper::to_give_count() {
  plan();
  std::size_t count = 0;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.ownership->partition_count(); ++i) {
      if (heir_of(group, static_cast<Partition>(i)) != nullptr) ++count;
    }
  }
  return count;
}

std::vector<PartitionKeeper::Batch> PartitionKeeper::gifts(std::size_t& left_count) {
  plan();
  std::vector<Batch> gifts;
  std::vector<Batch> reluctant;
  left_count = 0;
  for (const Group& group : groups_) {
    std::map<std::string, Batch> by_target;
    for (std::size_t i = 0; i < group.ownership->partition_count(); ++i) {
      const auto partition = static_cast<Partition>(i);
      const Member* const target = heir_of(group, partition);
      if (target == nullptr) continue;
      const std::string to = ClusterTable::name_of(*target);
      const auto reluctance = reluctant_.find({&group, partition});
      if (reluctance != reluctant_.end()) {
        // In a batch of its own, so that other partitions do not wait for it.
        if (reluctance->second.not_before > now()) {
          ++left_count;
        } else {
          reluctant.push_back(
              {.group = &group, .to = to, .to_epoch = target->epoch, .partitions = {partition}});
        }
        continue;
      }
      const auto [place, is_new] = by_target.try_emplace(to);
      if (is_new)
        place->second = {.group = &group, .to = to, .to_epoch = target->epoch, .partitions = {}};
      place->second.partitions.push_back(partition);
    }
    for (const auto& [name, whole] : by_target) {
      std::ranges::move(cut(whole, per_transaction(options_.hand_over_count_max, group)),
                        std::back_inserter(gifts));
    }
  }
  std::ranges::move(reluctant, std::back_inserter(gifts));
  return gifts;
}

bool PartitionKeeper::claim_due() {
  bool is_all_done = true;
  const std::uint64_t planned_at = table_.placement_change_count();
  for (const Batch& batch : claims()) {
    if (coroutine::is_cancelled()) return false;
    // Members have come or gone meanwhile: the rest may be for others to claim.
    if (table_.placement_change_count() != planned_at) return claim_due() && is_all_done;
    is_all_done = claim(batch) && is_all_done;
  }
  return is_all_done;
}

PartitionKeeper::Progress PartitionKeeper::give_due() {
  if (undecided_) {
    if (!take_back(*undecided_)) return Progress::stuck;
    const Gift decided = *std::exchange(undecided_, std::nullopt);
    end_move(decided.batch);
  }
  std::size_t left_count = 0;
  const auto gifts = this->gifts(left_count);
  if (gifts.empty()) return left_count == 0 ? Progress::all_done : Progress::stuck;
  // A hand-over keeps calls waiting until the directory answers.
  if (!gifts.front().group->ownership->fence().has_lease()) return Progress::stuck;
  // One batch per step: its target may leave during the hand-over, and the next step then plans
  // anew.
  const Progress handed = hand_over(gifts.front());
  if (handed != Progress::all_done) return handed;
  const bool is_last = gifts.size() == 1 && left_count == 0;
  return is_last ? Progress::all_done : Progress::more_to_do;
}

void PartitionKeeper::let_move(const Batch& batch) {
  for (const Partition partition : batch.partitions) moving_.emplace(batch.group, partition);
}

// The owners are decided, and the table knows them.
void PartitionKeeper::end_move(const Batch& batch) {
  for (const Partition partition : batch.partitions) moving_.erase({batch.group, partition});
  tenants_.resume(batch.group->placement, batch.partitions);
}

Directory::Put PartitionKeeper::put_owner(const Batch& batch, Partition partition) {
  return {.key = ClusterTable::partition_key(batch.group->placement, partition),
          .value = ClusterTable::owner_value(batch.to, batch.to_epoch)};
}

// Applies the outcome without waiting for the watch, so the partition is served sooner.
void PartitionKeeper::note_owner(const Batch& batch, const Directory::Outcome& outcome) {
  for (const Partition partition : batch.partitions) {
    auto put = put_owner(batch, partition);
    table_.apply({.entry = {.key = std::move(put.key),
                            .value = std::move(put.value),
                            .created_at = 0,
                            .modified_at = outcome.revision}});
  }
  adopt();
}

bool PartitionKeeper::claim(const Batch& batch) {
  // Since the batch was made, one may have become ours, and be on its way to another node.
  const auto is_on_its_way = [&](Partition partition) { return moves(*batch.group, partition); };
  if (std::ranges::any_of(batch.partitions, is_on_its_way)) return false;
  const auto& known = table_.ownerships(batch.group->placement);
  Directory::Transaction transaction;
  transaction.conditions.push_back(
      {.key = ClusterTable::node_key(name_), .field = Field::created_at, .revision = self_.epoch});
  std::set<std::pair<std::string, std::uint64_t>> former_owners;
  for (const Partition partition : batch.partitions) {
    auto put = put_owner(batch, partition);
    transaction.conditions.push_back({.key = put.key, .revision = known[partition].revision});
    if (!known[partition].owner.empty()) {
      former_owners.emplace(known[partition].owner, known[partition].node_epoch);
    }
    transaction.puts.push_back(std::move(put));
  }
  for (const auto& [owner, epoch] : former_owners) {
    transaction.conditions.push_back({.key = ClusterTable::node_key(owner),
                                      .field = Field::created_at,
                                      .is_equal = false,
                                      .revision = epoch});
  }
  if (COROLANE_SEEDED_BUG(watch_trusted)) transaction.conditions.clear();
  auto outcome = directory_.commit(transaction, Deadline::after(options_.commit_time_max));
  if (outcome && outcome->is_done) {
    claimed_count_ += batch.partitions.size();
    note_owner(batch, *outcome);
    return true;
  }
  if (outcome && batch.partitions.size() > 1) return claim_rest(batch);
  // After an unknown outcome the directory is read again.
  return look_again(batch).has_value() && outcome.has_value();
}

// Claims those of a refused claim that still have no owner: at once when other nodes have taken
// some, which happens when several nodes start at the same time, and one by one when it is not
// known why it was refused.
bool PartitionKeeper::claim_rest(const Batch& batch) {
  if (!look_again(batch)) return false;
  Batch rest{.group = batch.group, .to = batch.to, .to_epoch = batch.to_epoch, .partitions = {}};
  for (const Partition partition : batch.partitions) {
    const auto& known = table_.ownerships(batch.group->placement)[partition];
    const Member* const owner = table_.find(known.owner);
    if (owner != nullptr && owner->epoch == known.node_epoch) continue;
    if (!moves(*batch.group, partition)) rest.partitions.push_back(partition);
  }
  if (rest.partitions.empty()) return true;
  if (rest.partitions.size() < batch.partitions.size()) return claim(rest);
  bool is_all_done = true;
  for (const Batch& one : cut(rest, 1)) is_all_done = claim(one) && is_all_done;
  return is_all_done;
}

Duration PartitionKeeper::release_time_of(const Batch& batch) const {
  const auto reluctance = reluctant_.find({batch.group, batch.partitions.front()});
  return reluctance == reluctant_.end() ? options_.release_time_min
                                        : reluctance->second.release_time;
}

void PartitionKeeper::note_reluctance(const Batch& batch, const std::vector<Partition>& kept) {
  const Duration waited = release_time_of(batch);
  for (const Partition partition : batch.partitions) reluctant_.erase({batch.group, partition});
  // Between attempts the objects serve at least as long as an attempt blocks their calls.
  for (const Partition partition : kept) {
    reluctant_[{batch.group, partition}] = {
        .release_time = std::min(2 * waited, options_.release_time_max),
        .not_before = now() + waited};
  }
}

PartitionKeeper::Progress PartitionKeeper::hand_over(const Batch& batch) {
  const TimePoint start = now();
  // The epochs are taken before the release: a partition with another epoch afterwards is not
  // handed over. The table may be reloaded meanwhile, so each is looked up again.
  const auto known = [&](Partition partition) -> const ClusterTable::Ownership& {
    return table_.ownerships(batch.group->placement)[partition];
  };
  Gift gift{.batch = batch};
  auto& revisions = gift.revisions;
  for (const Partition partition : batch.partitions) {
    revisions[partition] = known(partition).revision;
  }
  let_move(batch);
  const auto kept = tenants_.release(batch.group->placement, batch.partitions,
                                     Deadline::after(release_time_of(batch)));
  note_reluctance(batch, kept);
  const TimePoint released = now();
  for (const Partition partition : kept) revisions.erase(partition);
  std::erase_if(revisions, [&](const auto& each) {
    const auto& now_known = known(each.first);
    return !is_mine(now_known) || now_known.revision != each.second;
  });
  if (revisions.empty()) {
    end_move(batch);
    return Progress::stuck;
  }
  Batch free = batch;
  free.partitions.clear();
  Directory::Transaction transaction;
  transaction.conditions.push_back({.key = ClusterTable::node_key(batch.to),
                                    .field = Field::created_at,
                                    .revision = batch.to_epoch});
  for (const auto& [partition, revision] : revisions) {
    auto put = put_owner(batch, partition);
    if (!COROLANE_SEEDED_BUG(hand_over_without_compare)) {
      transaction.conditions.push_back({.key = put.key, .revision = revision});
    }
    transaction.puts.push_back(std::move(put));
    free.partitions.push_back(partition);
  }
  auto outcome = directory_.commit(transaction, Deadline::after(options_.commit_time_max));
  if (outcome && outcome->is_done) {
    given_count_ += free.partitions.size();
    note_owner(free, *outcome);
    log_.debug("handed over", {{"to", batch.to},
                               {"partitions", free.partitions.size()},
                               {"release_took", released - start},
                               {"commit_took", now() - released}});
    end_move(batch);
    return kept.empty() ? Progress::all_done : Progress::more_to_do;
  }
  // Calls wait until the owner is decided.
  const bool is_decided = outcome ? look_again(batch).has_value() : take_back(gift);
  if (is_decided) {
    end_move(batch);
  } else {
    undecided_ = std::move(gift);
  }
  return Progress::stuck;
}

// Decides a hand-over with an unknown outcome. Reading the table would not suffice: the transaction
// may still be in flight and commit later, while we serve. So this claims the partitions again
// under a new epoch; the hand-over has then been made already, or never will be. Returns false when
// that is unknown, too.
bool PartitionKeeper::take_back(const Gift& gift) {
  Batch mine{.group = gift.batch.group, .to = name_, .to_epoch = self_.epoch, .partitions = {}};
  Directory::Transaction transaction;
  transaction.conditions.push_back(
      {.key = ClusterTable::node_key(name_), .field = Field::created_at, .revision = self_.epoch});
  for (const auto& [partition, revision] : gift.revisions) {
    auto put = put_owner(mine, partition);
    transaction.conditions.push_back({.key = put.key, .revision = revision});
    transaction.puts.push_back(std::move(put));
    mine.partitions.push_back(partition);
  }
  auto outcome = directory_.commit(transaction, Deadline::after(options_.commit_time_max));
  if (!outcome) return false;
  if (outcome->is_done) {
    note_owner(mine, *outcome);
    return true;
  }
  return look_again(mine).has_value();
}

// Also whether this node and the new owner are still there.
Result<void> PartitionKeeper::look_again(const Batch& batch) {
  const std::string nodes[] = {name_, batch.to};
  auto known = look_up_owners(directory_, table_, batch.group->placement, batch.partitions, nodes,
                              Deadline::after(options_.commit_time_max));
  if (!known) {
    log_.warning("directory not read", {{"error", known.error().to_string()}});
    return known;
  }
  adopt();
  return {};
}

}  // namespace corolane::framework::detail
