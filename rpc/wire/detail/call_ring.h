// SPDX-License-Identifier: MIT
// The waiting calls in order of arrival; a call that gives up leaves a gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corolane::rpc::detail {

class Call;

// A ring of pointers that grows by doubling and never shrinks.
class CallRing {
 public:
  bool empty() const { return first_ == end_; }

  // Returns the number with which the call may leave early.
  std::uint64_t push(Call& call) {
    if (end_ - first_ == slots_.size()) grow();
    slots_[end_ & mask()] = &call;
    return end_++;
  }
  void leave(std::uint64_t number) {
    slots_[number & mask()] = nullptr;
    drop_gaps();
  }

  Call& front() const { return *slots_[first_ & mask()]; }
  Call& pop() {
    Call& call = *std::exchange(slots_[first_ & mask()], nullptr);
    drop_gaps();
    return call;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  void drop_gaps() {
    while (first_ != end_ && slots_[first_ & mask()] == nullptr) ++first_;
  }
  void grow() {
    std::vector<Call*> larger(slots_.empty() ? 64 : slots_.size() * 2);
    for (std::uint64_t i = first_; i != end_; ++i) {
      larger[i & (larger.size() - 1)] = slots_[i & mask()];
    }
    slots_ = std::move(larger);
  }

  std::vector<Call*> slots_;  // Its size is a power of two.
  std::uint64_t first_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace corolane::rpc::detail
