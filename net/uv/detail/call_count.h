// Counts the tasks that are inside a call of an object, which may not be destroyed beneath them:
// also one that was woken and has not run since would return into an object that is gone.
#pragma once

#include <cstddef>

#include "coroutine/base/check.h"

namespace corolane::net::detail {

class CallCount {
 public:
  CallCount() = default;
  ~CallCount() { check(count_ == 0, "no task is inside a call of what is destroyed"); }
  CallCount(const CallCount&) = delete;
  CallCount& operator=(const CallCount&) = delete;

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
