// Hands out coroutine stacks and keeps returned ones warm for reuse.
//
// A stack reserves its size as address space but costs memory only for the pages it has touched,
// and touching a new page costs about twenty times a reuse. So a returned stack is kept, and the
// one returned last is handed out first: its top is still in the cache.
//
// Below each stack lies a guard: running over the end is a fault, never silent damage. Guards are
// installed with MADV_GUARD_INSTALL where the kernel has it (Linux 6.13), which splits no mapping,
// and with mprotect elsewhere, which costs two mappings per stack: there the pool refuses to grow
// beyond what vm.max_map_count can carry.
//
// The tops of the stacks are coloured: shifted by some cache lines from slot to slot. All tops
// are page-aligned, so without it the hot lines of all coroutines would compete for the same
// few sets of the first-level cache.
//
// Not thread-safe: every Scheduler owns one pool. Outlives all of its stacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::coroutine {

// A stack in use: [base, top), growing down from `top`, with the guard below `base`.
struct Stack {
  std::byte* base = nullptr;
  std::byte* top = nullptr;  // Aligned to 64 bytes.
  std::uint8_t size_class = 0;
};

class StackPool {
 public:
  enum class Guard : std::uint8_t { automatic, madvise, mprotect };

  struct Options {
    // In use and idle together, over all sizes: 8 GiB of address space at 64 KiB each.
    std::size_t stack_count_max = 100'000;
    // Tests choose a way; automatic takes the best one that the kernel has.
    Guard guard = Guard::automatic;
  };

  struct Statistics {
    std::size_t in_use_count = 0;
    std::size_t idle_count = 0;
    std::size_t in_use_count_peak = 0;
    std::size_t count_max = 0;     // The cap in force, see Options and guard.
    std::uint64_t hit_count = 0;   // Acquired from the idle ones.
    std::uint64_t miss_count = 0;  // Acquired by mapping new memory.
    std::uint64_t refused_count = 0;
    std::size_t mapped_bytes = 0;    // Address space, guards included.
    Guard guard = Guard::automatic;  // The way in force: madvise or mprotect.
  };

  // Below each stack. Library code is not compiled with stack-clash protection and may step over
  // a narrow guard, silently: glibc allocates up to 64 KiB at once on a stack (alloca() in printf()
  // of a large number, for one), and the frames around it want some room, too. It is address space
  // only.
  static constexpr std::size_t guard_size_bytes = 80 * 1024;

  static constexpr std::size_t stack_size_bytes_min = 16 * 1024;
  static constexpr std::size_t stack_size_bytes_max = 1024 * 1024;
  static constexpr std::size_t stack_size_bytes_default = 64 * 1024;

  StackPool() : StackPool(Options{}) {}
  explicit StackPool(Options options);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // Returns a stack of at least `size_bytes`, rounded up to a power of two between the least and
  // the largest size, with indeterminate contents. O(1); never suspends. Fails with
  // resource_exhausted at the cap or when the kernel refuses the mapping, and with
  // invalid_argument above the largest size.
  Result<Stack> acquire(std::size_t size_bytes = stack_size_bytes_default);

  // Takes back a stack of this pool. Its contents stay until it is handed out again, so the
  // running task may return its own stack just before it leaves it for good.
  void release(const Stack& stack);

  Statistics statistics() const;

 private:
  struct Slab {
    std::byte* begin;
    std::size_t size_bytes;
  };
  struct SizeClass {
    std::vector<Stack> idle;     // Hottest last.
    std::byte* uncut = nullptr;  // Rest of the newest slab.
    std::size_t uncut_count = 0;
    std::uint32_t colour = 0;  // Of the stack that is cut next.
  };
  static constexpr std::size_t size_class_count = 7;  // 16 KiB to 1 MiB.

  // From the guard of one stack to that of the next.
  static std::size_t slot_size_of(std::size_t size_class);
  Result<Stack> cut(std::size_t size_class);
  Result<void> map_slab(std::size_t size_class);
  bool install_guard(std::byte* begin) const;

  std::array<SizeClass, size_class_count> classes_;
  std::vector<Slab> slabs_;
  Statistics statistics_;
};

}  // namespace corolane::coroutine
