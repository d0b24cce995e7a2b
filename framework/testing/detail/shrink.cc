// SPDX-License-Identifier: MIT
#include "framework/testing/detail/shrink.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace corolane::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t client_count_min = 4;
constexpr std::chrono::seconds length_min = 8s;

class Shrinker {
 public:
  Shrinker(const RunPlan& plan, const std::function<bool(const RunPlan&)>& still_fails)
      : smallest_(plan), still_fails_(still_fails) {}

  RunPlan shrink() {
    drop_faults();
    while (smallest_.node_count > 1 && with([](RunPlan& plan) { --plan.node_count; })) {
    }
    for (const int divisor : {2, 4}) {
      shrink_clients(divisor);
      shrink_length(divisor);
    }
    return smallest_;
  }

 private:
  // Returns whether the changed plan fails, too; it is the smallest one then.
  template <typename Change>
  bool with(Change change) {
    RunPlan tried = smallest_;
    change(tried);
    if (!still_fails_(tried)) return false;
    smallest_ = tried;
    return true;
  }

  // Drops all, then halves, quarters and so on, down to one at a time.
  void drop_faults() {
    for (std::size_t part = smallest_.faults.size(); part > 0; part /= 2) {
      for (std::size_t first = 0; first < smallest_.faults.size();) {
        const auto drop = [&](RunPlan& plan) {
          const std::size_t last = std::min(first + part, plan.faults.size());
          plan.faults.erase(plan.faults.begin() + static_cast<std::ptrdiff_t>(first),
                            plan.faults.begin() + static_cast<std::ptrdiff_t>(last));
        };
        if (!with(drop)) first += part;
      }
    }
  }

  void shrink_clients(int divisor) {
    const auto fewer = [&](RunPlan& plan) {
      const std::size_t part = plan.client_count / static_cast<std::size_t>(divisor);
      plan.client_count =
          std::max(plan.client_count - std::max<std::size_t>(1, part), client_count_min);
    };
    while (smallest_.client_count > client_count_min && with(fewer)) {
    }
  }

  void shrink_length(int divisor) {
    const auto shorter = [&](RunPlan& plan) {
      plan.length = std::max(plan.length - plan.length / divisor, length_min);
    };
    while (smallest_.length > length_min && with(shorter)) {
    }
  }

  RunPlan smallest_;
  const std::function<bool(const RunPlan&)>& still_fails_;
};

}  // namespace

RunPlan shrink(const RunPlan& plan, const std::function<bool(const RunPlan& tried)>& still_fails) {
  return Shrinker(plan, still_fails).shrink();
}

}  // namespace corolane::sim
