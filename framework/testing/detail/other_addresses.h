// SPDX-License-Identifier: MIT
// Shifts the addresses of a second run, which must behave the same.
#pragma once

#include <memory>
#include <random>
#include <vector>

namespace corolane::sim {

// Occupies memory while it lives, so that later allocations get other addresses: code that depends
// on addresses behaves differently then.
class OtherAddresses {
 public:
  OtherAddresses() {
    std::random_device chance;
    for (int i = 0; i < 20'000; ++i) {
      blocks_.push_back(std::make_unique<char[]>(1 + chance() % 2'000));
    }
    // Leaves holes for later allocations.
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (chance() % 2 == 0) blocks_[i].reset();
    }
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace corolane::sim
