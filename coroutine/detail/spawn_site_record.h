// SPDX-License-Identifier: MIT
// The counts of one spawn site. Every spawn and every end of a task updates them, so they are apart
// from the table that finds them (spawn_sites.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "coroutine/cpu_time.h"

namespace corolane::coroutine::detail {

struct SpawnSiteRecord {
  // In libstdc++ a source_location is one pointer, to a constant of the program: one for each call
  // of spawn(). Code in a header has one, and so a row, for each source file whose copies the
  // linker does not merge.
  static std::uintptr_t key_of(const std::source_location& place) {
    static_assert(sizeof(place) == sizeof(std::uintptr_t));
    return std::bit_cast<std::uintptr_t>(place);
  }
  bool is_at(const std::source_location& other) const { return key_of(place) == key_of(other); }

  std::source_location place;
  std::uint64_t spawned_count = 0;
  std::uint64_t ended_count = 0;
  std::uint64_t measured_next = 1;  // The number of the task whose stack is measured next.
  std::uint64_t measured_count = 0;
  std::size_t stack_size_bytes = 0;
  std::size_t stack_used_bytes_max = 0;
  CpuTime cpu;
  std::string task_name;
};

}  // namespace corolane::coroutine::detail
