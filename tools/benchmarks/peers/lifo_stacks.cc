// SPDX-License-Identifier: MIT
// Stacks are mapped one by one, or cut from one mapping for all.
#include "tools/benchmarks/peers/lifo_stacks.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace corolane::bench {
namespace {

constexpr std::size_t page_size_bytes = 4096;
constexpr std::size_t cache_line_bytes = 64;
// The colours span two kilobytes: the hot part of a stack still lies in its top page.
constexpr std::size_t colour_count = 32;
// An older <sys/mman.h> lacks it (Linux 6.13, include/uapi/asm-generic/mman-common.h).
constexpr int madvise_guard_install = 102;

Error refusal(const char* what) {
  return Error(Code::resource_exhausted,
               std::string("the kernel refuses ") + what + ": " + std::strerror(errno));
}

}  // namespace

LifoStacks::~LifoStacks() {
  for (const Mapping& mapping : mappings_) munmap(mapping.begin, mapping.size_bytes);
}

std::size_t LifoStacks::usable_size_bytes() const {
  return options_.stack_size_bytes - (options_.tuned ? colour_count * cache_line_bytes : 0);
}

Result<std::byte*> LifoStacks::map() { return options_.tuned ? cut_tuned() : map_own(); }

Result<std::byte*> LifoStacks::map_own() {
  const std::size_t size_bytes = page_size_bytes + options_.stack_size_bytes;
  void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return refusal("a stack");
  mappings_.push_back({.begin = static_cast<std::byte*>(memory), .size_bytes = size_bytes});
  if (mprotect(memory, page_size_bytes, PROT_NONE) != 0) return refusal("a guard by mprotect");
  return static_cast<std::byte*>(memory) + size_bytes;
}

Result<std::byte*> LifoStacks::cut_tuned() {
  const std::size_t slot_size_bytes = page_size_bytes + options_.stack_size_bytes;
  if (mappings_.empty()) {
    const std::size_t size_bytes = options_.count_max * slot_size_bytes;
    void* const memory = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return refusal("a mapping for all stacks");
    // A huge page would make one touched page of a stack cost 2 MiB.
    madvise(memory, size_bytes, MADV_NOHUGEPAGE);
    mappings_.push_back({.begin = static_cast<std::byte*>(memory), .size_bytes = size_bytes});
  }
  if (cut_count_ == options_.count_max) return refusal("more stacks than were asked for");
  std::byte* const guard = mappings_.front().begin + cut_count_ * slot_size_bytes;
  if (madvise(guard, page_size_bytes, madvise_guard_install) != 0 &&
      mprotect(guard, page_size_bytes, PROT_NONE) != 0) {
    return refusal("a guard");
  }
  return guard + slot_size_bytes - cut_count_++ % colour_count * cache_line_bytes;
}

}  // namespace corolane::bench
