// SPDX-License-Identifier: MIT
// Counts the tasks that are inside a call of an object. The object may not be destroyed before they
// return: even a task that was woken and has not run yet would return into freed memory.
#pragma once

#include <cstddef>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

class CallCount {
 public:
  CallCount() = default;
  ~CallCount() { check(count_ == 0, "no task is inside a call of an object that is destroyed"); }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;

  bool is_inside() const { return count_ > 0; }

  class Inside {
   public:
    explicit Inside(CallCount& calls) : calls_(calls) { ++calls_.count_; }
    ~Inside() { --calls_.count_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    CallCount& calls_;
  };

 private:
  std::size_t count_ = 0;
};

}  // namespace corolane::net::detail
