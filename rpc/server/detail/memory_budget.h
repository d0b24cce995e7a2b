// SPDX-License-Identifier: MIT
// Bounds the memory that decoded requests take, over all connections of a server.
#pragma once

#include <cstddef>

namespace corolane::rpc::detail {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  bool take(std::size_t bytes) {
    if (bytes > bytes_max_ - taken_bytes_) return false;
    taken_bytes_ += bytes;
    return true;
  }
  void give_back(std::size_t bytes) { taken_bytes_ -= bytes; }
  std::size_t taken_bytes() const { return taken_bytes_; }

 private:
  const std::size_t bytes_max_;
  std::size_t taken_bytes_ = 0;
};

}  // namespace corolane::rpc::detail
