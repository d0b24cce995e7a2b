// SPDX-License-Identifier: MIT
// The parsed entries of the directory: the nodes, and the owner of each partition.
//
//   nodes/NAME.INCARNATION     {"shards": ["10.0.0.1:8470"], ...}, on the node's lease
//   draining/NAME.INCARNATION  on the same lease: the node gives its partitions away
//   partitions/P               NAME.INCARNATION EPOCH, on no lease; of a placement other than the
//                              default one partitions/zone=Z,role=R/P
//   pins/P                     NAME operator, or NAME balancer: placement puts the partition on
//                              that node; of another placement as for partitions
//
// The epoch of a node is the revision that created its key; the epoch of an ownership is the
// revision that last wrote its entry. Unreadable entries are skipped and counted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/cluster/cluster_view.h"
#include "framework/directory/directory.h"
#include "framework/wire/directory_mark.h"

namespace corolane::framework::detail {

class ClusterTable {
 public:
  static constexpr std::string_view prefix = {};

  struct Ownership {
    std::string owner;             // "NAME.INCARNATION"; empty: never owned.
    std::uint64_t node_epoch = 0;  // The owner's epoch.
    Directory::Revision revision = 0;
  };
  // By partition.
  class Ownerships {
   public:
    // Also of a partition that was never owned.
    const Ownership& operator[](std::size_t partition) const {
      static const Ownership never_owned;
      return partition < known_.size() ? known_[partition] : never_owned;
    }
    Ownership& at(Partition partition) {
      if (partition >= known_.size()) known_.resize(std::bit_ceil(std::size_t{partition} + 1));
      return known_[partition];
    }
    // The number of those that are owned, or were.
    std::size_t count() const;

    // Those that have changed, each at least once, since they were taken.
    std::vector<Partition> changed;

   private:
    std::vector<Ownership> known_;
  };

  static std::string name_of(const Member& member) {
    return member.name + "." + member.incarnation;
  }
  static std::string node_key(std::string_view name) { return key("nodes/", name); }
  static std::string nodes_prefix() { return node_key({}); }
  static std::string draining_key(std::string_view name) { return key("draining/", name); }
  static std::string all_draining_prefix() { return draining_key({}); }
  static std::string partition_key(const Placement& placement, Partition partition);
  static std::string all_pins_prefix() { return key("pins/", {}); }
  static std::string pin_key(const Placement& placement, Partition partition);
  static std::string to_value(const Pin& pin);
  static std::string to_value(const Member& member);
  // Its value names the directory: it is drawn by the first node that finds none. An etcd that is
  // made anew with the same flags has the same cluster id, so that does not suffice.
  static std::string id_key() { return key("", "id"); }
  // That value; empty when the snapshot has none.
  static std::string id_in(const Directory::Snapshot& snapshot);
  // Its value is the generation of the directory; 0 without such an entry.
  static std::string generation_key() { return key("", "generation"); }
  static std::string owner_value(std::string_view name, std::uint64_t node_epoch);

  // Replaces everything it knows.
  void load(const Directory::Snapshot& snapshot);
  // The others add to what it knows. The snapshot may be older than the table: what is known to be
  // newer stays, and a node that is known to have left does not come back.
  void merge(const Directory::Snapshot& all);
  // The entries of those keys alone.
  void merge(std::span<const std::string> keys, const Directory::Snapshot& some);
  // Returns false when the table has other entries than the directory, so that it must be merged
  // with all of them. Nothing is known of that when the table is the newer one.
  [[nodiscard]] bool merge(const Directory::Recent& recent);
  // Whether it has the same nodes: `recent` is what has changed of them since a time at which it
  // had all of them. True when nothing is known of that, since the table is the newer one.
  bool has_nodes(const Directory::Recent& recent) const;
  // The same for the marks of nodes that drain, and for the pins.
  bool has_draining(const Directory::Recent& recent) const;
  bool has_pins(const Directory::Recent& recent) const;
  // That of its own store, for a node that hosts objects. Other nodes know it from those that do.
  void set_partition_count(std::size_t count) {
    partition_count_ = count;
    is_partition_count_set_ = true;
  }
  std::size_t partition_count() const { return partition_count_; }
  // Applies one change; ignores a change that is older than the known entry.
  void apply(const Directory::Change& change);
  // The same for a change that the watch tells: no change before it will come.
  void follow(const Directory::Change& change);

  // An answer has shown that the directory was replaced or set back; true until the next load().
  void note_replaced() { is_replaced_ = true; }
  bool is_replaced() const { return is_replaced_; }

  // The latest that it has seen.
  Directory::Revision revision() const { return revision_; }
  // All changes before this revision are known, unless a watch has missed some: the next watch
  // begins here.
  Directory::Revision next_to_watch() const { return next_to_watch_; }
  // Grows whenever a view of the table has changed.
  std::uint64_t change_count() const { return change_count_; }
  // Grows whenever a member has come, gone or begun to drain, and with each change of a pin:
  // nothing else decides where partitions should be.
  std::uint64_t placement_change_count() const { return placement_change_count_; }
  // How often operators have replaced the directory.
  std::uint64_t generation() const { return generation_; }
  DirectoryMark mark() const {
    return {.id = id_, .revision = revision_, .generation = generation_};
  }
  // The epoch of that ownership; 0 when the partition was never owned.
  std::uint64_t epoch_of(const Ownership& ownership) const {
    return ownership.revision == 0 ? 0 : DirectoryMark::epoch(generation_, ownership.revision);
  }
  // Null when there is no such node now.
  const Member* find(std::string_view name) const;
  std::vector<Member> members() const;
  // All unowned for a placement without entries.
  const Ownerships& ownerships(const Placement& placement) const;
  // Returns those that have changed since the last call. Others may have changed, too, when
  // whole_change_count() has grown.
  std::vector<Partition> take_changed(const Placement& placement);
  std::uint64_t whole_change_count() const { return whole_change_count_; }
  const Pins& pins(const Placement& placement) const;
  std::uint64_t unreadable_count() const { return unreadable_count_; }

  // For the node of that epoch.
  std::shared_ptr<const ClusterView> view(std::uint64_t self_epoch = 0) const;

 private:
  struct PinChange {
    Directory::Revision revision = 0;
    bool is_there = false;
  };

  static std::string key(std::string_view kind, std::string_view name);
  void put(const Directory::Entry& entry, Directory::Revision as_of);
  void put_node(const Directory::Entry& entry, std::string_view name);
  void put_draining(const Directory::Entry& entry, std::string_view name);
  void put_owner(const Directory::Entry& entry, std::string_view place);
  void put_pin(const Directory::Entry& entry, std::string_view place);
  void put_other(const Directory::Entry& entry);
  void remove(const Directory::Entry& entry);
  void remove_node(std::string_view name, Directory::Revision revision);
  void remove_pin(std::string_view place, Directory::Revision revision);
  std::size_t pin_count() const;
  template <typename F>
  bool has_same(std::size_t count, const Directory::Recent& recent, F&& is_known) const;
  std::size_t unreadable_count_of(std::string_view key_prefix) const;
  void placement_changed() {
    ++change_count_;
    ++placement_change_count_;
  }
  void note_gone(std::string_view name, Directory::Revision revision);
  bool has_left(std::string_view name, const Directory::Entry& entry,
                Directory::Revision as_of) const;
  // Removes the nodes up to that revision that are not among the entries.
  void remove_others(const Directory::Snapshot& all);
  void ownership_changed(Ownerships& ownerships, Partition partition);
  std::size_t entry_count() const;

  std::string id_;
  std::size_t partition_count_ = partition_count_min;
  bool is_partition_count_set_ = false;
  Directory::Revision revision_ = 0;
  Directory::Revision next_to_watch_ = 1;
  std::uint64_t change_count_ = 0;
  std::uint64_t placement_change_count_ = 0;
  std::uint64_t whole_change_count_ = 0;
  std::uint64_t generation_ = 0;
  Directory::Revision generation_set_at_ = 0;
  std::map<std::string, Member, std::less<>> nodes_;  // By NAME.INCARNATION.
  std::map<std::string, Directory::Revision, std::less<>> draining_;
  std::map<Placement, Ownerships> ownerships_;
  std::map<Placement, Pins> pins_;
  // Also of pins that are gone: an older answer must not bring one back.
  std::map<std::pair<Placement, Partition>, PinChange> pin_changes_;
  // By NAME.INCARNATION, when the latest nodes have left.
  std::map<std::string, Directory::Revision, std::less<>> gone_;
  std::set<std::string, std::less<>> others_;  // The keys of all other entries.
  bool is_replaced_ = false;
  std::uint64_t unreadable_count_ = 0;
};

}  // namespace corolane::framework::detail
