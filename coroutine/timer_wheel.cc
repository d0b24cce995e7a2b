// SPDX-License-Identifier: MIT
#include "coroutine/timer_wheel.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/prefetch.h"
#include "coroutine/detail/async_frame_pool.h"

namespace corolane::coroutine {
namespace {

using Chunk = detail::TimerChunk;

// While one timer comes from memory, about this many others are moved or fire.
constexpr std::size_t lead = 12;

// A timer is written to, and may lie in two lines.
void fetch_timer(const Chunk& chunk, std::size_t index) {
  if (index >= chunk.end) return;
  const auto* const place = reinterpret_cast<const char*>(chunk.entries[index].timer);
  if (place == nullptr) return;  // It was cancelled.
  prefetch_for_write(place);
  prefetch_for_write(place + sizeof(Timer) - 1);
}

void fetch_chunk(const Chunk* chunk) {
  const auto* const place = reinterpret_cast<const char*>(chunk);
  for (std::size_t offset = 0; offset < sizeof(Chunk); offset += 64) {
    prefetch_for_write(place + offset);
  }
}

// Called before the first entry of the first chunk.
void fetch_first(const Chunk& chunk) {
  for (std::size_t index = 0; index < lead; ++index) fetch_timer(chunk, chunk.begin + index);
}

// Called before each entry.
void fetch_ahead(const Chunk& chunk, std::size_t index) {
  if (chunk.next != nullptr && index == 0) fetch_chunk(chunk.next);
  if (index + lead < Chunk::entry_count) {
    fetch_timer(chunk, index + lead);
  } else if (chunk.next != nullptr) {
    fetch_timer(*chunk.next, index + lead - Chunk::entry_count);
  }
}

}  // namespace

TimerWheel::TimerWheel(TimePoint start) : tick_(tick_of(start)) {}

TimerWheel::~TimerWheel() {
  settle();
  check(armed_count_ == 0, "no timer outlives its wheel");
}

bool TimerWheel::fire_due(std::size_t count_max) {
  settle();
  const Slot& due = slots_[due_slot];
  if (due.first != nullptr) fetch_first(*due.first);
  for (std::size_t count = 0; count < count_max && due.first != nullptr; ++count) {
    Chunk& chunk = *due.first;
    while (chunk.entries[chunk.begin].timer == nullptr) ++chunk.begin;
    fetch_ahead(chunk, chunk.begin);
    Timer& timer = *chunk.entries[chunk.begin].timer;
    timer.place_ = 0;
    remove(chunk, chunk.begin++);
    timer.callback_(timer);
    settle();
  }
  return due.first != nullptr;
}

void TimerWheel::collect_due(TimePoint time) noexcept {
  settle();
  const std::uint64_t target = tick_of(time);
  for (;;) {
    const std::size_t first = first_slot();
    if (first == slot_count) break;
    const std::uint64_t tick = first_tick_of(first);
    if (tick > target) break;
    tick_ = tick;
    if (level_of(first) > 0) {
      cascade(tick, target);
    } else if (tick < target) {
      take_all_due(first);
    } else {
      take_due(first, time);
      break;
    }
  }
  tick_ = std::max(tick_, target);
}

// First fetches all that it touches.
void TimerWheel::make_holes() {
  for (std::size_t i = 0; i < cancelled_count_; ++i) {
    Chunk& chunk = Chunk::chunk_at(cancelled_[i]);
    prefetch_for_write(&chunk);
    prefetch_for_write(&chunk.entries[Chunk::index_at(cancelled_[i])]);
  }
  for (std::size_t i = 0; i < cancelled_count_; ++i) {
    remove(Chunk::chunk_at(cancelled_[i]), Chunk::index_at(cancelled_[i]));
  }
  cancelled_count_ = 0;
}

void TimerWheel::take_due(std::size_t slot, TimePoint time) {
  Slot& present = slots_[slot];
  if (present.earliest > time) return;
  TimePoint earliest_left = TimePoint::max();
  for (Chunk* chunk = present.first; chunk != nullptr;) {
    Chunk* const next = chunk->next;
    for (std::size_t index = chunk->begin, end = chunk->end; index < end; ++index) {
      const Entry entry = chunk->entries[index];
      if (entry.timer == nullptr) continue;
      if (entry.time > time) {
        earliest_left = std::min(earliest_left, entry.time);
        continue;
      }
      chunk->entries[index].timer = nullptr;
      append(due_slot, entry);
      if (--chunk->timer_count == 0) {
        drop_chunk(*chunk);
        break;
      }
    }
    chunk = next;
  }
  present.earliest = earliest_left;
}

void TimerWheel::take_all_due(std::size_t slot) {
  Slot& due = slots_[due_slot];
  Chunk* const first = take_chunks(slot);
  first->previous = due.last;
  (due.last == nullptr ? due.first : due.last->next) = first;
  for (Chunk* chunk = first; chunk != nullptr; chunk = chunk->next) {
    chunk->slot = due_slot;
    due.last = chunk;
  }
}

Deadline TimerWheel::next() {
  settle();
  if (slots_[due_slot].first != nullptr) return Deadline::passed();
  const std::size_t first = first_slot();
  return first == slot_count ? Deadline::never() : Deadline::at(slots_[first].earliest);
}

void TimerWheel::cascade(std::uint64_t tick, std::uint64_t target) {
  for (std::size_t level = level_count - 1; level > 0; --level) {
    if ((tick & ((std::uint64_t{1} << shift_of(level)) - 1)) != 0) continue;
    const std::size_t slot = slot_at(level, tick);
    if (slots_[slot].first == nullptr) continue;
    // A slot of a millisecond that is over need not be sorted any finer.
    if (level == 1 && tick + lowest_size <= target) {
      take_all_due(slot);
      continue;
    }
    Chunk* chunk = take_chunks(slot);
    fetch_first(*chunk);
    while (chunk != nullptr) {
      for (std::size_t index = chunk->begin; index < chunk->end; ++index) {
        fetch_ahead(*chunk, index);
        if (const Entry& entry = chunk->entries[index]; entry.timer != nullptr) insert(entry);
      }
      detail::AsyncFramePool::release(std::exchange(chunk, chunk->next), sizeof(Chunk));
    }
  }
}

TimerWheel::Chunk* TimerWheel::take_chunks(std::size_t slot) {
  Slot& taken = slots_[slot];
  occupied_[slot / word_bits] &= ~(std::uint64_t{1} << (slot % word_bits));
  taken.last = nullptr;
  return std::exchange(taken.first, nullptr);
}

TimerWheel::Chunk& TimerWheel::add_chunk(std::size_t slot) {
  Slot& longer = slots_[slot];
  void* const place = detail::AsyncFramePool::allocate(sizeof(Chunk));
  fetch_chunk(static_cast<Chunk*>(place));
  auto* const chunk = new (place) Chunk;
  chunk->next = nullptr;
  chunk->previous = longer.last;
  chunk->slot = static_cast<std::uint16_t>(slot);
  chunk->begin = chunk->end = chunk->timer_count = 0;
  (longer.last == nullptr ? longer.first : longer.last->next) = chunk;
  longer.last = chunk;
  if (slot < slot_count) occupied_[slot / word_bits] |= std::uint64_t{1} << (slot % word_bits);
  return *chunk;
}

void TimerWheel::drop_chunk(Chunk& chunk) {
  Slot& slot = slots_[chunk.slot];
  (chunk.previous == nullptr ? slot.first : chunk.previous->next) = chunk.next;
  (chunk.next == nullptr ? slot.last : chunk.next->previous) = chunk.previous;
  if (slot.first == nullptr && chunk.slot < slot_count) {
    occupied_[chunk.slot / word_bits] &= ~(std::uint64_t{1} << (chunk.slot % word_bits));
  }
  detail::AsyncFramePool::release(&chunk, sizeof(Chunk));
}

std::size_t TimerWheel::first_slot() const {
  for (std::size_t word = 0; word < occupied_.size(); ++word) {
    if (occupied_[word] == 0) continue;
    return word * word_bits + static_cast<std::size_t>(std::countr_zero(occupied_[word]));
  }
  return slot_count;
}

std::uint64_t TimerWheel::first_tick_of(std::size_t slot) const {
  // Slots with timers lie ahead of the present slot of their level: nothing wraps around.
  const std::size_t level = level_of(slot);
  if (level == 0) return (tick_ & ~std::uint64_t{lowest_size - 1}) | slot;
  const std::size_t shift = shift_of(level);
  const std::uint64_t above = tick_ >> (shift + level_bits) << (shift + level_bits);
  return above | ((slot - lowest_size) % level_size) << shift;
}

}  // namespace corolane::coroutine
