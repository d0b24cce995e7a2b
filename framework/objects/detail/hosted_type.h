// Objects of one type on one shard: how they are made, those that are there, and what serves their
// calls to the RPC server.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_statistics.h"
#include "framework/objects/object.h"
#include "framework/wire/partition.h"
#include "rpc/observe/method_cost.h"

namespace corolane::framework::detail {

class ObjectHost;

// Is the service whose methods are those of the objects: each of its calls names one.
class HostedType final : public rpc::Service {
 public:
  using Factory = std::function<std::unique_ptr<ObjectBase>()>;

  // `object_bytes` is what one takes, with a state of no content.
  HostedType(ObjectHost& host, ObjectType type, const Ownership& ownership, Factory factory,
             std::size_t object_bytes);

  ObjectHost& host() const { return host_; }
  std::string_view name() const { return type_.name; }
  // Of the partitions of its placement.
  const Ownership& ownership() const { return ownership_; }
  Partition partition_of(std::string_view id) const { return partition_of_(id); }
  std::unique_ptr<ObjectBase> make_object() const { return factory_(); }
  std::size_t object_bytes() const { return object_bytes_; }
  // What of that is the state.
  std::size_t empty_state_bytes() const { return empty_state_bytes_; }
  void note_empty_state(std::size_t bytes) {
    if (empty_state_bytes_ == 0) empty_state_bytes_ = bytes;
  }
  // The method as the objects have it, from any row of the same.
  const rpc::Method& method(std::size_t index) const { return type_.methods[index]; }

  // What became of the calls of a method, of all objects.
  struct MethodRecord {
    // Of a handler that has its turn now, in its task.
    void begin(TimePoint arrived_at);
    void end(const Result<void>& result);

    const char* full_name;
    std::uint64_t call_count = 0;  // Ended.
    std::uint64_t error_count = 0;
    std::uint64_t running_count = 0;  // Handlers.
    Duration queue_time{};            // Of all until they had a turn, to a turn of the loop.
    rpc::MethodMeter meter = {};
  };
  // `method` is one of theirs, whoever has the row. All others by which its host serves them, such
  // as one that follows what they publish, have a record together.
  MethodRecord& record_of(const rpc::Method& method);
  const std::vector<MethodRecord>& method_records() const { return method_records_; }

  // Null when there is none.
  ObjectCell* find(std::string_view id) const;
  ObjectCell& add(std::string_view id, const ObjectCell::Surroundings& surroundings);
  void remove(ObjectCell& cell);
  // Calls see(cell) for each that is there.
  template <typename F>
  void for_each(F&& see) const {
    for (const auto& [id, cell] : cells_) see(*cell);
  }
  // Above all that its objects have published here and will not remember: where the next one that
  // publishes begins.
  std::uint64_t last_sequence() const { return last_sequence_; }
  void note_sequence(std::uint64_t sequence) {
    last_sequence_ = std::max(last_sequence_, sequence);
  }
  // Those that are there.
  const std::vector<ObjectCell*>& of_partition(Partition partition) const {
    return by_partition_[partition];
  }

  // For its host, and for those who work for it: everything but who is there.
  ObjectStatistics counts;
  ObjectStatistics statistics() const;

  const char* service_name() const override { return type_.name; }
  std::span<const rpc::Method> methods() const override { return rows_; }
  std::span<const rpc::SymbolComment> comments() const override { return type_.comments; }

 private:
  static Result<void> invoke(rpc::Service& service, const google::protobuf::Message& request,
                             rpc::Context& context, rpc::ReplySink& sink);

  ObjectHost& host_;
  const ObjectType type_;
  const Ownership& ownership_;
  const Factory factory_;
  const std::size_t object_bytes_;
  std::size_t empty_state_bytes_ = 0;  // 0 before there was one.
  const PartitionHash partition_of_;
  std::vector<rpc::Method> rows_;  // What invokes them finds the object first.
  std::vector<MethodRecord> method_records_;
  MethodRecord other_methods_{.full_name = ""};
  std::unordered_map<std::string_view, std::unique_ptr<ObjectCell>> cells_;  // By their own ids.
  std::array<std::vector<ObjectCell*>, partition_count> by_partition_;
  std::uint64_t last_sequence_ = 0;
};

inline bool ObjectCell::is_current() const {
  return is_active() && epoch_ == type_.ownership().epoch(partition_);
}

inline bool ObjectCell::has_stale_object() const { return object_ != nullptr && !is_current(); }

inline bool ObjectCell::is_owned() const {
  const Ownership& ownership = type_.ownership();
  return ownership.holds(partition_, epoch_) ||
         (surroundings_.bugs.reply_after_fence && ownership.epoch(partition_) == epoch_);
}

}  // namespace corolane::framework::detail
