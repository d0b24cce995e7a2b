// SPDX-License-Identifier: MIT
// The objects of one type on one shard: their factory, their cells, and the service by which the
// RPC server calls them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coroutine/base/deadline.h"
#include "framework/alarms/detail/reminder_watch.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_statistics.h"
#include "framework/objects/detail/partition_loads.h"
#include "framework/objects/host_options.h"
#include "framework/objects/object.h"
#include "framework/wire/partition.h"
#include "rpc/observe/method_cost.h"

namespace corolane::framework::detail {

class ObjectHost;

// The service has the methods of the objects; each call names its object.
class HostedType final : public rpc::Service, public RemindedType {
 public:
  using Factory = std::function<std::unique_ptr<ObjectBase>()>;

  // `object_bytes` is the size of an object with an empty state.
  HostedType(ObjectHost& host, ObjectType type, const Ownership& ownership, Factory factory,
             std::size_t object_bytes, const HostOptions& options);

  ObjectHost& host() const { return host_; }
  std::string_view name() const override { return type_.name; }
  // The ownership of its placement's partitions.
  const Ownership& ownership() const override { return ownership_; }
  Partition partition_of(std::string_view id) const override { return partition_of_(id); }
  const PartitionHash& partition_hash() const { return partition_of_; }
  bool is_transient() const { return options_.transient; }
  const HostOptions& options() const { return options_; }
  std::unique_ptr<ObjectBase> make_object() const { return factory_(); }
  std::size_t object_bytes() const { return object_bytes_; }
  // The part of object_bytes() that is the empty state.
  std::size_t empty_state_bytes() const { return empty_state_bytes_; }
  void note_empty_state(std::size_t bytes) {
    if (empty_state_bytes_ == 0) empty_state_bytes_ = bytes;
  }
  // The objects' own row of that method.
  const rpc::Method& method(std::size_t index) const { return type_.methods[index]; }

  // Counts the calls of one method, over all objects.
  struct MethodRecord {
    // Called in the handler's task when it has its turn, with the time of the loop turn.
    void begin(TimePoint arrived_at, TimePoint begun_at) {
      ++running_count;
      if (arrived_at < begun_at) queue_time += begun_at - arrived_at;
    }
    void end(const Result<void>& result, Deadline deadline) {
      --running_count;
      ++call_count;
      if (!result) [[unlikely]]
        note(result.error(), deadline);
    }
    void note(const Error& error, Deadline deadline);

    const char* full_name;
    std::uint64_t call_count = 0;  // Ended calls.
    std::uint64_t error_count = 0;
    std::uint64_t fault_count = 0;    // Errors that are the server's fault.
    std::uint64_t running_count = 0;  // Running handlers.
    Duration queue_time{};            // The sum of all waits for a turn, to the precision of a loop
                                      // turn.
    rpc::MethodMeter meter = {};
  };
  // The record of the objects' own row of a method. Methods of the host itself, such as the one
  // that follows an object's publications, share one record.
  MethodRecord& record_of(const rpc::Method& method) {
    const std::less<const rpc::Method*> is_before;
    const rpc::Method* const begin = type_.methods.data();
    const bool is_own =
        !is_before(&method, begin) && is_before(&method, begin + type_.methods.size());
    return is_own ? method_records_[static_cast<std::size_t>(&method - begin)] : other_methods_;
  }
  const std::vector<MethodRecord>& method_records() const { return method_records_; }

  // Null when there is no such cell.
  ObjectCell* find(std::string_view id) const;
  ObjectCell& add(std::string_view id, const ObjectCell::Surroundings& surroundings);
  void remove(ObjectCell& cell);
  // Calls see(cell) for each cell.
  template <typename F>
  void for_each(F&& see) const {
    for (const auto& [id, cell] : cells_) see(*cell);
  }
  // At least the sequence of all publications here by objects that are gone: the next object that
  // publishes begins here.
  std::uint64_t last_sequence() const { return last_sequence_; }
  void note_sequence(std::uint64_t sequence) {
    last_sequence_ = std::max(last_sequence_, sequence);
  }
  // The cells of a partition.
  const std::vector<ObjectCell*>& of_partition(Partition partition) const {
    static const std::vector<ObjectCell*> none;
    const auto found = by_partition_.find(partition);
    return found == by_partition_.end() ? none : found->second;
  }
  // The version of the last write that an object may have under way although the store was set back
  // before it; 0: none.
  std::uint64_t late_version_of(const std::string& id) const {
    if (late_versions_.empty()) return 0;
    const auto found = late_versions_.find(id);
    return found == late_versions_.end() ? 0 : found->second;
  }
  void note_late_write(const std::string& id, std::uint64_t version) {
    late_versions_[id] = version;
  }
  // A later version is stored.
  void forget_late_write(const std::string& id) {
    if (!late_versions_.empty()) late_versions_.erase(id);
  }
  // What the calls of its objects compute on this shard.
  PartitionLoads loads;

  // All cells, the least recently used first; cells in use are anywhere.
  std::list<ObjectCell*> by_use;

  // Updated by its host and the host's helpers; active_count is filled in by statistics().
  ObjectStatistics counts;
  ObjectStatistics statistics() const;

  const char* service_name() const override { return type_.name; }
  std::span<const rpc::Method> methods() const override { return rows_; }
  std::span<const rpc::SymbolComment> comments() const override { return type_.comments; }

 private:
  static Result<void> invoke(rpc::Service& service, const google::protobuf::Message& request,
                             rpc::Context& context, rpc::Messages& sink);

  ObjectHost& host_;
  const ObjectType type_;
  const Ownership& ownership_;
  const Factory factory_;
  const std::size_t object_bytes_;
  const HostOptions options_;
  std::size_t empty_state_bytes_ = 0;  // 0 until the first object.
  const PartitionHash partition_of_;
  std::vector<rpc::Method> rows_;  // Their invoke finds the object first.
  std::vector<MethodRecord> method_records_;
  MethodRecord other_methods_{.full_name = ""};
  std::unordered_map<std::string_view, std::unique_ptr<ObjectCell>> cells_;  // Keyed by the cells'
                                                                             // ids.
  std::unordered_map<Partition, std::vector<ObjectCell*>> by_partition_;     // None is empty.
  std::uint64_t last_sequence_ = 0;
  std::unordered_map<std::string, std::uint64_t> late_versions_;
};

inline bool ObjectCell::is_current() const {
  return is_active() && epoch_ == type_.ownership().epoch(partition_);
}

inline bool ObjectCell::is_transient() const { return type_.is_transient(); }

inline bool ObjectCell::has_stale_object() const { return object_ != nullptr && !is_current(); }

inline bool ObjectCell::has_lease() const { return type_.ownership().fence().has_lease(); }

inline bool ObjectCell::is_owned() const { return type_.ownership().holds(partition_, epoch_); }

inline bool ObjectCell::is_owned_under_lease() const {
  // The fence is never earlier than the end of the lease.
  return epoch_ != 0 && type_.ownership().epoch(partition_) == epoch_ && has_lease();
}

}  // namespace corolane::framework::detail
