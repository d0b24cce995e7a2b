// SPDX-License-Identifier: MIT
// The parsed entries of the directory: the nodes, and the owner of each partition.
//
//   nodes/NAME.INCARNATION     {"shards": ["10.0.0.1:8470"], ...}, on the node's lease
//   draining/NAME.INCARNATION  on the same lease: the node gives its partitions away
//   partitions/P               NAME.INCARNATION EPOCH, on no lease; of a placement other than the
//                              default one partitions/zone=Z,role=R/P
//
// The epoch of a node is the revision that created its key; the epoch of an ownership is the
// revision that last wrote its entry. Unreadable entries are skipped and counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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
  using Ownerships = std::array<Ownership, partition_count>;

  static std::string name_of(const Member& member) {
    return member.name + "." + member.incarnation;
  }
  static std::string node_key(std::string_view name) { return key("nodes/", name); }
  static std::string draining_key(std::string_view name) { return key("draining/", name); }
  static std::string partition_key(const Placement& placement, Partition partition);
  static std::string to_value(const Member& member);
  // Its value names the directory: it is drawn by the first node that finds none. An etcd that is
  // made anew with the same flags has the same cluster id, so that does not suffice.
  static std::string id_key() { return key("", "id"); }
  // Its value is the generation of the directory; 0 without such an entry.
  static std::string generation_key() { return key("", "generation"); }
  static std::string owner_value(std::string_view name, std::uint64_t node_epoch);

  // Replaces everything it knows.
  void load(const Directory::Snapshot& snapshot);
  // Takes the owners that are newer than the known ones from a snapshot that is older than the
  // table.
  void take_owners(const Directory::Snapshot& snapshot);
  // Applies one change; ignores a change that is older than the known entry.
  void apply(const Directory::Change& change);

  Directory::Revision revision() const { return revision_; }
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
  std::uint64_t unreadable_count() const { return unreadable_count_; }

  std::shared_ptr<const ClusterView> view() const;

 private:
  static std::string key(std::string_view kind, std::string_view name);
  void put(const Directory::Entry& entry);
  void remove(const Directory::Entry& entry);

  std::string id_;
  Directory::Revision revision_ = 0;
  std::uint64_t generation_ = 0;
  std::map<std::string, Member, std::less<>> nodes_;  // By NAME.INCARNATION.
  std::map<std::string, Directory::Revision, std::less<>> draining_;
  std::map<Placement, Ownerships> ownerships_;
  std::uint64_t unreadable_count_ = 0;
};

}  // namespace corolane::framework::detail
