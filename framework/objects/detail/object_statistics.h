// SPDX-License-Identifier: MIT
// Counters of the objects of one type on one shard, or sums over several types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "framework/alarms/detail/alarm_owner.h"

namespace corolane::framework::detail {

struct ObjectStatistics {
  std::size_t active_count = 0;
  std::size_t memory_bytes = 0;
  std::size_t unsaved_count = 0;
  std::uint64_t call_count = 0;
  std::uint64_t activation_count = 0;
  std::uint64_t deactivation_count = 0;
  std::uint64_t save_count = 0;
  std::uint64_t failed_save_count = 0;
  std::uint64_t refused_count = 0;  // Calls refused by a full mailbox.
  std::uint64_t moved_count = 0;    // Calls of objects of other nodes.
  AlarmCounts alarms = {};
  std::uint64_t publication_count = 0;
  std::uint64_t stray_exception_count = 0;  // Calls that threw an exception.
  std::uint64_t destroyed_count = 0;
  std::uint64_t lost_write_count = 0;  // Objects whose stored writes the store has lost.
  std::size_t outbox_count = 0;        // Calls in outboxes that are not acknowledged yet.
  std::uint64_t delivery_count = 0;    // Calls from outboxes that were acknowledged.
  std::uint64_t failed_delivery_count = 0;

  void add(const ObjectStatistics& more) {
    active_count += more.active_count;
    memory_bytes += more.memory_bytes;
    unsaved_count += more.unsaved_count;
    call_count += more.call_count;
    activation_count += more.activation_count;
    deactivation_count += more.deactivation_count;
    save_count += more.save_count;
    failed_save_count += more.failed_save_count;
    refused_count += more.refused_count;
    moved_count += more.moved_count;
    alarms.tick_count += more.alarms.tick_count;
    alarms.missed_tick_count += more.alarms.missed_tick_count;
    alarms.reminder_count += more.alarms.reminder_count;
    alarms.failed_reminder_count += more.alarms.failed_reminder_count;
    publication_count += more.publication_count;
    stray_exception_count += more.stray_exception_count;
    destroyed_count += more.destroyed_count;
    lost_write_count += more.lost_write_count;
    outbox_count += more.outbox_count;
    delivery_count += more.delivery_count;
    failed_delivery_count += more.failed_delivery_count;
  }
};

}  // namespace corolane::framework::detail
