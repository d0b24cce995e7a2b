// SPDX-License-Identifier: MIT
#include "coroutine/stack/detail/stack_memory.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/stack/detail/sanitizer.h"
#include "coroutine/stack/detail/valgrind.h"

namespace corolane::coroutine::detail {
namespace {

// The headers of this system are older than these (include/uapi/asm-generic/mman-common.h,
// include/uapi/linux/fcntl.h).
constexpr int madvise_guard_install = 102;  // Linux 6.13
constexpr int pidfd_self_thread = -10'000;  // Linux 6.14

// Advises the kernel on many ranges in one system call. True when it accepted all of them.
bool advise_at_once(std::span<const iovec> ranges, int advice) {
  std::size_t size_bytes = 0;
  for (const iovec& range : ranges) size_bytes += range.iov_len;
  const ssize_t advised =
      process_madvise(pidfd_self_thread, ranges.data(), ranges.size(), advice, 0);
  return advised >= 0 && static_cast<std::size_t>(advised) == size_bytes;
}

// The page ranges of a batch, one per stack, for the duration of a system call.
class Ranges {
 public:
  template <typename RangeOf>
  Ranges(StackTops tops, RangeOf range_of) : count_(tops.size()) {
    check(count_ <= ranges_.size(), "a batch has at most batch_size_max stacks");
    std::ranges::transform(tops, ranges_.begin(), range_of);
  }
  std::span<const iovec> all() const { return {ranges_.data(), count_}; }

 private:
  std::size_t count_;
  std::array<iovec, StackMemory::batch_size_max> ranges_;
};

// Whether a page can become a guard, alone or in a batch.
struct Abilities {
  bool guards = false;
  bool batches = false;
};

// Asks the kernel rather than its word: an emulator may ignore advice that it does not know.
bool is_unreadable(const void* page) {
  return ::access(static_cast<const char*>(page), F_OK) != 0 && errno == EFAULT;
}

Abilities try_abilities() {
  const iovec page = {.iov_base = mmap(nullptr, system_page_size_bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                      .iov_len = system_page_size_bytes};
  if (page.iov_base == MAP_FAILED) return {};
  const Abilities abilities = {
      .guards = madvise(page.iov_base, page.iov_len, madvise_guard_install) == 0 &&
                is_unreadable(page.iov_base),
      // Valgrind does not know process_madvise(), and warns at each call.
      .batches = !Valgrind::is_running() && advise_at_once({&page, 1}, madvise_guard_install)};
  munmap(page.iov_base, page.iov_len);
  return abilities;
}

}  // namespace

StackMemory::StackMemory(StackGuard wanted) : guard_(wanted) {
  const Abilities abilities = try_abilities();
  has_batches_ = abilities.batches;
  if (wanted == StackGuard::automatic) {
    guard_ = abilities.guards ? StackGuard::madvise : StackGuard::mprotect;
  }
}

std::size_t StackMemory::guard_count_max() const {
  if (guard_ == StackGuard::madvise) return SIZE_MAX;
  std::ifstream file("/proc/sys/vm/max_map_count");
  std::size_t mapping_count_max = 0;
  if (!(file >> mapping_count_max)) mapping_count_max = 65'530;  // The kernel's default.
  return mapping_count_max / 2 / 8 * 7;
}

Result<std::byte*> StackMemory::reserve(std::size_t size_bytes) const {
  void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return Error(
        Code::resource_exhausted,
        std::string("the kernel refuses memory for coroutine stacks: ") + std::strerror(errno));
  }
  // A huge page would make one touched page of a stack cost 2 MiB.
  madvise(memory, size_bytes, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void StackMemory::give_up(std::span<std::byte> memory) {
#if defined(COROLANE_ASAN)
  // The next mapping at this address must not inherit the poison of old frames.
  __asan_unpoison_memory_region(memory.data(), memory.size());
#endif
  munmap(memory.data(), memory.size());
}

bool StackMemory::install_guards(StackTops tops, const StackSlot& slot) const {
  const Ranges guards(tops, [&](std::byte* top) {
    return iovec{.iov_base = slot.begin(top), .iov_len = slot.guard_size_bytes()};
  });
  if (guard_ == StackGuard::mprotect) {
    return std::ranges::all_of(guards.all(), [](const iovec& guard) {
      return mprotect(guard.iov_base, guard.iov_len, PROT_NONE) == 0;
    });
  }
  if (has_batches_ && tops.size() > 1 && advise_at_once(guards.all(), madvise_guard_install)) {
    return true;
  }
  return std::ranges::all_of(guards.all(), [](const iovec& guard) {
    return madvise(guard.iov_base, guard.iov_len, madvise_guard_install) == 0;
  });
}

void StackMemory::remove_guard(std::byte* top, const StackSlot& slot) const {
  // A guard by madvise has no cost to free.
  if (guard_ == StackGuard::madvise) return;
  mprotect(slot.begin(top), slot.guard_size_bytes(), PROT_READ | PROT_WRITE);
}

bool StackMemory::populate(StackTops tops, const StackSlot& slot) const {
  if (!has_batches_ || tops.size() < 2) return false;
  const Ranges pages(tops, [&](std::byte* top) {
    return iovec{.iov_base = StackSlot::end(top) - slot.page_size_bytes,
                 .iov_len = slot.page_size_bytes};
  });
  return advise_at_once(pages.all(), MADV_POPULATE_WRITE);
}

void StackMemory::discard(StackTops tops, const StackSlot& slot) const {
  while (!tops.empty()) {
    const std::size_t count = std::min(tops.size(), batch_size_max);
    const Ranges stacks(tops.first(count), [&](std::byte* top) {
      return iovec{.iov_base = slot.base(top), .iov_len = slot.body_size_bytes()};
    });
    tops = tops.subspan(count);
    if (has_batches_ && advise_at_once(stacks.all(), MADV_DONTNEED)) continue;
    for (const iovec& stack : stacks.all()) madvise(stack.iov_base, stack.iov_len, MADV_DONTNEED);
  }
}

}  // namespace corolane::coroutine::detail
