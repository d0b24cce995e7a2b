// SPDX-License-Identifier: MIT
#include "services/chess/lobby.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "coroutine/base/try.h"
#include "services/chess/token.h"

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

// The largest rating difference at first, and its growth per second of waiting.
constexpr std::int32_t distance_at_first = 100;
constexpr std::int32_t distance_per_second = 50;
// How often a waiting player looks for an opponent that has come into range.
constexpr Duration look_interval = 1s;

std::int32_t distance_max(TimePoint since) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now() - since).count();
  return distance_at_first + distance_per_second * static_cast<std::int32_t>(seconds);
}

}  // namespace

// Only wait_until_met() suspends here, so both seekers always get matching answers.
Result<MeetReply> Lobby::meet(const MeetRequest& request, rpc::Context&) {
  Seeker seeker{.player = request.player(), .rating = request.rating()};
  if (Seeker* const other = best_for(seeker)) {
    // The player who came first moves first.
    introduce(*other, seeker);
    return *std::move(seeker.met);
  }
  const auto place = waiting_.insert(waiting_.end(), &seeker);
  const auto waited = wait_until_met(seeker);
  waiting_.erase(place);
  if (!waited) return waited.error();
  return *std::move(seeker.met);
}

Result<void> Lobby::wait_until_met(Seeker& seeker) {
  while (!seeker.met) {
    COROLANE_TRY(const bool is_met, wait_until([&] { return seeker.met.has_value(); },
                                               Deadline::after(look_interval)));
    if (is_met) break;
    if (Seeker* const other = best_for(seeker)) introduce(*other, seeker);
  }
  return {};
}

Lobby::Seeker* Lobby::best_for(const Seeker& seeker) const {
  Seeker* best = nullptr;
  std::int64_t best_distance = 0;
  for (Seeker* const other : waiting_) {
    if (other->met || other->player == seeker.player) continue;
    const std::int64_t distance = std::abs(std::int64_t{other->rating} - seeker.rating);
    if (distance > std::max(distance_max(other->since), distance_max(seeker.since))) continue;
    if (best != nullptr && distance >= best_distance) continue;
    best = other;
    best_distance = distance;
  }
  return best;
}

void Lobby::introduce(Seeker& white, Seeker& black) const {
  // Any caller that knows the name of a game can take its seats, so the name is random.
  const std::string game = "lobby " + id() + " " + std::to_string(new_token());
  for (Seeker* const each : {&white, &black}) {
    MeetReply& reply = each->met.emplace();
    reply.set_game(game);
    reply.set_seat(each == &white ? WHITE : BLACK);
    reply.set_opponent((each == &white ? black : white).player);
  }
}

}  // namespace corolane::services::chess
