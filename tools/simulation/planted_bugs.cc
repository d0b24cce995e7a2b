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

PlantedBugs::PlantedBugs(const SeededBugs& bugs, const SessionBugs& of_sessions)
    : previous_(std::exchange(framework::detail::seeded_bugs, bugs)),
      previous_of_sessions_(std::exchange(rpc::detail::session_bugs, of_sessions)) {}

PlantedBugs::~PlantedBugs() {
  framework::detail::seeded_bugs = previous_;
  rpc::detail::session_bugs = previous_of_sessions_;
}

}  // namespace corolane::sim
#else
namespace corolane::sim {

PlantedBugs::PlantedBugs(const SeededBugs& bugs, const SessionBugs& of_sessions)
    : previous_(bugs), previous_of_sessions_(of_sessions) {}

PlantedBugs::~PlantedBugs() = default;

}  // namespace corolane::sim
#endif
