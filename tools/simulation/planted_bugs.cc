// SPDX-License-Identifier: MIT
#include "tools/simulation/planted_bugs.h"

#include <utility>

#ifdef COROLANE_SEEDED_BUGS
namespace corolane::framework::detail {

SeededBugs seeded_bugs;

}  // namespace corolane::framework::detail

namespace corolane::rpc::detail {

SessionBugs session_bugs;

}  // namespace corolane::rpc::detail

namespace corolane::sim {

PlantedBugs::PlantedBugs(const SeededBugs& bugs)
    : previous_{std::exchange(framework::detail::seeded_bugs, bugs),
                std::exchange(rpc::detail::session_bugs, bugs)} {}

PlantedBugs::~PlantedBugs() {
  framework::detail::seeded_bugs = previous_;
  rpc::detail::session_bugs = previous_;
}

}  // namespace corolane::sim
#else
namespace corolane::sim {

PlantedBugs::PlantedBugs(const SeededBugs& bugs) : previous_(bugs) {}

PlantedBugs::~PlantedBugs() = default;

}  // namespace corolane::sim
#endif
