// Memory that is in the way: for a second run, which is to be the same.
#pragma once

#include <memory>
#include <random>
#include <vector>

namespace corolane::sim {

// While it lives, what is allocated lies elsewhere than it would: whoever goes by addresses does
// something else then.
class OtherAddresses {
 public:
  OtherAddresses() {
    std::random_device chance;
    for (int i = 0; i < 20'000; ++i) {
      blocks_.push_back(std::make_unique<char[]>(1 + chance() % 2'000));
    }
    // Holes, for some to fall into.
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (chance() % 2 == 0) blocks_[i].reset();
    }
  }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace corolane::sim
