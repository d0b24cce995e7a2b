// SPDX-License-Identifier: MIT
#include "framework/cluster/detail/doubts.h"

#include <algorithm>

#include "net/crypto.h"

namespace corolane::framework::detail {

Doubts::Doubts(const Options& options)
    : options_(options), random_(net::seed_or_random(options.random_seed)) {}

void Doubts::raise(const Place& place, const Known& known) {
  Doubt& doubt = doubts_[place];
  const bool is_quiet = !doubt.is_raised && now() > doubt.not_before + options_.pause_max;
  if (doubt.known != known || is_quiet) doubt = {.known = known};
  doubt.is_raised = true;
}

TimePoint Doubts::next_due() const {
  TimePoint next = TimePoint::max();
  for (const auto& [place, doubt] : doubts_) {
    if (doubt.is_raised) next = std::min(next, doubt.not_before);
  }
  return next;
}

std::vector<Doubts::Place> Doubts::take_due(std::size_t count_max) {
  forget_old();
  const TimePoint time = now();
  std::vector<Place> due;
  for (auto& [place, doubt] : doubts_) {
    if (!doubt.is_raised || doubt.not_before > time) continue;
    if (due.size() == count_max || (!due.empty() && due.front().first != place.first)) break;
    doubt.is_raised = false;
    due.push_back(place);
  }
  return due;
}

void Doubts::settle(const Place& place, const Known& known) {
  const auto found = doubts_.find(place);
  if (found == doubts_.end()) return;
  Doubt& doubt = found->second;
  // A doubt that was raised meanwhile is answered, too.
  if (doubt.known != known) {
    doubts_.erase(found);
    return;
  }
  doubt.pause = doubt.pause == Duration::zero() ? options_.pause_min
                                                : std::min(2 * doubt.pause, options_.pause_max);
  const auto jitter = static_cast<std::uint64_t>((doubt.pause / 4).count());
  doubt.not_before =
      now() + doubt.pause - Duration(static_cast<Duration::rep>(random_.below(jitter + 1)));
}

void Doubts::forget_old() {
  std::erase_if(doubts_, [this, time = now()](const auto& each) {
    return !each.second.is_raised && time > each.second.not_before + options_.pause_max;
  });
}

}  // namespace corolane::framework::detail
