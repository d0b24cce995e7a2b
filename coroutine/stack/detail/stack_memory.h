// SPDX-License-Identifier: MIT
// The kernel's services for coroutine stacks: address space, guards, and memory on demand.
//
// Each stack lies in a slot of its own, cut from a larger mapping:
//
//   | guard, 80 KiB | stack, a power of two | room for the colour, 4 KiB |
//   ^ begin         ^ base                          top, somewhere here  ^ end
//
// Each of the two parts is rounded up to whole pages, of 4, 16 or 64 KiB: a stack may be larger
// than was asked for.
//
// The colour shifts the top below the end of the slot, by less than a page. So the top alone, eight
// bytes, determines all of the slot.
//
// Measured on Linux 6.18 (per stack, in microseconds): a guard by madvise 0.7, in a batch 0.6; the
// first touch of a page 1.6, in a batch 1.25; discarding one 1.5, in a batch 0.25. The batch is
// process_madvise() on the process itself, which takes any advice since Linux 6.13 and needs no
// descriptor since 6.14; without it, every call has its fallback.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#if !defined(__x86_64__)
#include <unistd.h>
#endif

#include "coroutine/base/result.h"

namespace corolane::coroutine::detail {

// The means that protects the pages below a stack.
enum class StackGuard : std::uint8_t { automatic, madvise, mprotect };

// The page size of the system.
#if defined(__x86_64__)
inline constexpr std::size_t system_page_size_bytes = 4096;
#else
inline const auto system_page_size_bytes = static_cast<std::size_t>(::getpagesize());
#endif

// The layout of a slot, for stacks of one size.
struct StackSlot {
  // Library code is not compiled with stack-clash protection and may silently step over a narrow
  // guard: glibc allocates up to 64 KiB at once on a stack (for example alloca() in printf() of a
  // large number), and the frames around it need some room, too. It is address space only.
  static constexpr std::size_t guard_size_bytes_min = 80 * 1024;
  static constexpr std::size_t page_size_bytes_min = 4096;
  static constexpr std::size_t colour_room_bytes = page_size_bytes_min;
  // 32 steps of a cache line each: 2 KiB at the most, so that the hot part of a stack still fits
  // into the last page of its slot.
  static constexpr std::size_t colour_count = 32;
  static constexpr std::size_t colour_step_bytes = 64;

  constexpr std::size_t guard_size_bytes() const { return whole_pages(guard_size_bytes_min); }
  // From the base to the end.
  constexpr std::size_t body_size_bytes() const {
    return whole_pages(stack_size_bytes + colour_room_bytes);
  }
  constexpr std::size_t size_bytes() const { return guard_size_bytes() + body_size_bytes(); }
  static std::byte* end(std::byte* top) {
    return top + (-reinterpret_cast<std::uintptr_t>(top) & (page_size_bytes_min - 1));
  }
  std::byte* base(std::byte* top) const { return end(top) - body_size_bytes(); }
  std::byte* begin(std::byte* top) const { return base(top) - guard_size_bytes(); }
  constexpr std::size_t whole_pages(std::size_t wanted_bytes) const {
    return (wanted_bytes + page_size_bytes - 1) & ~(page_size_bytes - 1);
  }

  std::size_t stack_size_bytes;
  std::size_t page_size_bytes = system_page_size_bytes;
};

// Stacks, by their tops.
using StackTops = std::span<std::byte* const>;

class StackMemory {
 public:
  // The largest batch.
  static constexpr std::size_t batch_size_max = 64;

  // Automatic takes the best guard that the kernel has.
  explicit StackMemory(StackGuard wanted);

  // The guard in force: madvise or mprotect.
  StackGuard guard() const { return guard_; }
  // The number of guards that the process can have. A guard by mprotect splits a mapping, which
  // makes two per stack, and vm.max_map_count bounds them; an eighth is left to the rest of the
  // process.
  std::size_t guard_count_max() const;

  // Address space that costs no memory until it is touched. Fails with resource_exhausted.
  Result<std::byte*> reserve(std::size_t size_bytes) const;
  static void give_up(std::span<std::byte> memory);

  // Puts a guard below each stack; an existing one stays. Returns false when the kernel refuses one
  // (errno says why): then some may exist and some not.
  bool install_guards(StackTops tops, const StackSlot& slot) const;
  // Frees what a guard costs. The stack must not be used until it has one again.
  void remove_guard(std::byte* top, const StackSlot& slot) const;

  // Fetches the page at the top of each before it is touched, when one batch is cheaper than single
  // faults; else returns false and does nothing.
  bool populate(StackTops tops, const StackSlot& slot) const;
  // Gives the memory of the stacks back; afterwards they contain zeros. The guards stay. Locked
  // memory (mlockall) stays too.
  void discard(StackTops tops, const StackSlot& slot) const;

 private:
  StackGuard guard_;
  bool has_batches_;
};

}  // namespace corolane::coroutine::detail
