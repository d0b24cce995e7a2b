// SPDX-License-Identifier: MIT
// Plants bugs in all nodes and stores of this process, as long as it exists. Only programs that
// link corolane::seeded_bugs have any.
#pragma once

#include "framework/cluster/detail/seeded_bugs.h"
#include "rpc/server/detail/seeded_bugs.h"

namespace corolane::sim {

using framework::detail::SeededBugs;
using rpc::detail::SessionBugs;

class PlantedBugs {
 public:
  explicit PlantedBugs(const SeededBugs& bugs, const SessionBugs& of_sessions = {});
  // NOLINTNEXTLINE(performance-trivially-destructible): it is, where no bug is compiled in.
  ~PlantedBugs();
  PlantedBugs(const PlantedBugs&) = delete;
  PlantedBugs& operator=(const PlantedBugs&) = delete;

 private:
  const SeededBugs previous_;
  const SessionBugs previous_of_sessions_;
};

}  // namespace corolane::sim
