// SPDX-License-Identifier: MIT
#include "coroutine/detail/spawn_sites.h"

#include <algorithm>
#include <bit>

#include "coroutine/detail/task_access.h"
#include "coroutine/stack/detail/stack_depth.h"

namespace corolane::coroutine::detail {

SpawnSiteRecord& SpawnSites::find(const TaskControl& task) {
  // Fibonacci hashing (Knuth, The Art of Computer Programming, 6.4): the high bits are mixed best.
  const std::uint64_t mixed = SpawnSiteRecord::key_of(task.top().site) * 0x9E37'79B9'7F4A'7C15;
  std::size_t bucket = mixed >> (64 - std::countr_zero(bucket_count));
  for (; buckets_[bucket] != 0; bucket = (bucket + 1) % bucket_count) {
    SpawnSiteRecord& record = records_[buckets_[bucket] - std::size_t{1}];
    if (record.is_at(task.top().site)) return record;
  }
  // The last record counts all further places: it has no place itself, so it is never found.
  if (records_.size() == site_count_max) return records_.back();
  SpawnSiteRecord& record = records_.emplace_back();
  if (records_.size() < site_count_max) {
    record.place = task.top().site;
    record.task_name = task.name();
    buckets_[bucket] = static_cast<std::uint16_t>(records_.size());
  }
  return record;
}

void SpawnSites::begin_measuring(TaskControl& task) {
  if (measure_interval_ == 0) return;
  task.site_record->measured_next += measure_interval_;
  task.stack_is_measured = blank_stack(task.stack().base, reinterpret_cast<std::byte*>(&task));
}

void SpawnSites::measure(const TaskControl& task) {
  SpawnSiteRecord& record = *task.site_record;
  const Stack stack = task.stack();
  // The colour takes less than a page above the end.
  const auto size_bytes = std::bit_floor(static_cast<std::size_t>(stack.top - stack.base));
  // The control block lies lowest of all that was on the stack before the task began.
  const auto* const lowest = lowest_use(stack.base, reinterpret_cast<const std::byte*>(&task));
  ++record.measured_count;
  record.stack_size_bytes = std::max(record.stack_size_bytes, size_bytes);
  const auto used_bytes = static_cast<std::size_t>(stack.top - lowest);
  record.stack_used_bytes_max = std::max(record.stack_used_bytes_max, used_bytes);
  TaskAccess::tell_if_deep(task, used_bytes, size_bytes);
}

std::vector<SpawnSite> SpawnSites::all() const {
  std::vector<SpawnSite> sites;
  sites.reserve(records_.size());
  for (const SpawnSiteRecord& record : records_) {
    sites.push_back({.place = record.place,
                     .task_name = record.task_name,
                     .spawned_count = record.spawned_count,
                     .alive_count = record.spawned_count - record.ended_count,
                     .cpu = record.cpu.sum(),
                     .stack_size_bytes = record.stack_size_bytes,
                     .stack_used_bytes_max = record.stack_used_bytes_max,
                     .measured_count = record.measured_count});
  }
  return sites;
}

}  // namespace corolane::coroutine::detail
