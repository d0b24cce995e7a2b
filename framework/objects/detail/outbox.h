// SPDX-License-Identifier: MIT
// The outbox of one object: calls of other objects that are stored with its state, and delivered
// from there until they are acknowledged.
//
// Calls of the same object are delivered one after the other, in order; calls of different objects
// side by side. Each carries a request id, so its receiver executes it once, however often it
// arrives: from this owner, or from a later one that does not know that it was delivered. A failed
// delivery is repeated after a second, and after twice the time with each further failure, up to a
// minute. Delivered calls leave the store with the next write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/clock.h"
#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "framework/objects/detail/owners.h"
#include "framework/time/wall_clock.h"
#include "framework/wire/objects.pb.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class AlarmRunner;
class ObjectAlarms;
class ObjectCell;

// The RequestId::scope of calls from outboxes.
inline constexpr std::string_view outbox_scope = "outbox";

class Outbox final : public OutboxSink {
 public:
  static constexpr std::size_t call_count_max = 1'024;
  static constexpr std::size_t bytes_max = std::size_t{256} << 10;

  // All of them outlive it.
  Outbox(AlarmRunner& runner, ObjectAlarms& owner, ObjectCell& cell);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Puts the calls that are made with it into the outbox.
  Router& router();
  // Fails with invalid_argument for a method that cannot be acknowledged, or whose reply says more
  // than that, with resource_exhausted when there is no room, and with failed_precondition for
  // objects that are not stored.
  Result<void> put(const rpc::Method& method, const std::string& id,
                   const google::protobuf::Message& request) override;

  // The RequestId::caller of its calls; empty before the first one.
  const std::string& caller() const { return caller_; }
  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  // The error of the last delivery of the first call; nothing while it has not failed.
  const std::optional<Error>& failure() const { return failure_; }

  // The first `count` calls in it are stored now, so they may leave.
  void note_written(std::size_t count);
  // Discards all but the first `count` calls. None of the others is stored.
  void take_back(std::size_t count);

  // The time at which another node wakes the object, if this one dies before all are delivered; at
  // once when the object leaves.
  std::optional<WallTime> wake_at() const;
  void set_leaving(bool is_leaving) { is_leaving_ = is_leaving; }
  void load(const ObjectRecord& record);
  // The first `count` calls.
  void store(ObjectRecord& record, std::size_t count) const;

 private:
  class OutboxAlarm;

  struct Entry {
    std::uint64_t number;  // The sequence number of its request id.
    const rpc::Method* method;
    std::string id;
    std::string request;
    bool is_stored = false;
    std::uint32_t failed_count = 0;
    TimePoint not_before{};
  };
  struct Delivery {
    Entry entry;
    Result<void> result = Error(Code::unavailable, "not delivered yet");
  };

  // The first calls of each target that may be delivered now or later.
  std::vector<const Entry*> heads() const;
  std::optional<TimePoint> next_time() const;
  void deliver_due();
  Result<void> deliver(const Entry& entry) const;
  void settle(std::span<const Delivery> deliveries);
  void note_failure(Entry& entry, const Error& error);
  void arm();
  void count_entries();

  AlarmRunner& runner_;
  ObjectAlarms& owner_;
  ObjectCell& cell_;
  std::string caller_;
  std::uint64_t last_number_ = 0;
  std::vector<Entry> entries_;
  std::size_t bytes_ = 0;
  std::size_t counted_ = 0;  // Entries that are included in the statistics of the type.
  bool is_leaving_ = false;
  std::optional<Error> failure_;
  TimePoint not_before_{};              // No delivery begins earlier.
  std::shared_ptr<Router> router_;      // Null until the first use.
  std::shared_ptr<OutboxAlarm> alarm_;  // Null until there is something to deliver.
};

}  // namespace corolane::framework::detail
