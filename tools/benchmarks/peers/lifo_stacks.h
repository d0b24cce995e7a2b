// SPDX-License-Identifier: MIT
// A simple pool of stacks: the stack returned last is handed out first.
//
// Each stack is its own mapping with a guard page below it. `tuned` adds known optimisations: one
// mapping for all stacks, guards by MADV_GUARD_INSTALL, which do not split the mapping, and
// coloured tops, shifted by a cache line from stack to stack, so that they do not all compete for
// the same few sets of the cache.
#pragma once

#include <cstddef>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::bench {

class LifoStacks {
 public:
  struct Options {
    std::size_t stack_size_bytes = 64 * 1024;
    bool tuned = false;
    std::size_t count_max = 0;  // For `tuned`: the number of stacks in the mapping.
  };

  explicit LifoStacks(Options options) : options_(options) {}
  ~LifoStacks();
  LifoStacks(const LifoStacks&) = delete;
  LifoStacks& operator=(const LifoStacks&) = delete;

  // Returns the top of a stack; fails when the kernel refuses a mapping or a guard.
  Result<std::byte*> acquire() {
    if (idle_.empty()) return map();
    std::byte* const top = idle_.back();
    idle_.pop_back();
    return top;
  }
  void release(std::byte* top) { idle_.push_back(top); }

  // The bytes for frames below any top.
  std::size_t usable_size_bytes() const;

 private:
  Result<std::byte*> map();
  Result<std::byte*> map_own();
  Result<std::byte*> cut_tuned();

  struct Mapping {
    std::byte* begin;
    std::size_t size_bytes;
  };

  Options options_;
  std::vector<Mapping> mappings_;
  std::vector<std::byte*> idle_;
  std::size_t cut_count_ = 0;
};

}  // namespace corolane::bench
