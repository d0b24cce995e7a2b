// A pool of stacks as one would write it by hand: the one returned last is handed out first.
//
// Each stack is a mapping of its own with a guard page below it. `tuned` adds what is known to
// help: one mapping for all, guards by MADV_GUARD_INSTALL, which split no mapping, and coloured
// tops, shifted by a cache line from stack to stack, so that they do not all compete for the same
// few sets of the cache.
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
    std::size_t count_max = 0;  // Tuned alone: how many the one mapping holds.
  };

  explicit LifoStacks(Options options) : options_(options) {}
  ~LifoStacks();
  LifoStacks(const LifoStacks&) = delete;
  LifoStacks& operator=(const LifoStacks&) = delete;

  // The top of a stack; fails when the kernel refuses a mapping or a guard.
  Result<std::byte*> acquire() {
    if (idle_.empty()) return map();
    std::byte* const top = idle_.back();
    idle_.pop_back();
    return top;
  }
  void release(std::byte* top) { idle_.push_back(top); }

  // What is left for frames below any top.
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
