// SPDX-License-Identifier: MIT
#include "services/chess/hall.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace corolane::services::chess {
namespace {

using namespace std::chrono_literals;

constexpr Duration publish_interval = 500ms;
// How long a game that is over is shown, so that spectators see who has won.
constexpr Duration over_kept = 10s;
// Both players of a game think no longer than that, or are gone.
constexpr Duration silence_max = 1h;

}  // namespace

bool Hall::Listed::is_stale() const {
  return now() - heard_at > (is_over() ? over_kept : silence_max);
}

Result<void> Hall::tell(const ListedGame& request, rpc::Context&) {
  std::erase_if(games_, [](const Listed& each) { return each.is_stale(); });
  const auto known = std::ranges::find_if(
      games_, [&](const Listed& each) { return each.game.game() == request.game(); });
  if (known != games_.end()) {
    // Reports of one game may overtake each other.
    if (known->is_over() || known->game.plies() > request.plies()) return {};
    games_.erase(known);
  }
  games_.push_front({.game = request});
  if (games_.size() > games_max) games_.pop_back();
  publish_soon();
  return {};
}

Result<ListGamesReply> Hall::look(const ListGamesRequest&, rpc::Context&) const {
  ListGamesReply reply;
  for (const Listed& each : games_) {
    if (!each.is_stale()) *reply.add_games() = each.game;
  }
  return reply;
}

void Hall::publish_soon() {
  if (will_publish_) return;
  const auto set =
      timers().after(publish_interval, [this] { publish_list(); }, {.name = "publish"});
  will_publish_ = set.has_value();
}

void Hall::publish_list() {
  will_publish_ = false;
  std::erase_if(games_, [](const Listed& each) { return each.is_stale(); });
  HallNews news;
  for (const Listed& each : games_) *news.add_games() = each.game;
  publish(std::move(news));
  // So that those that are over leave the list without further news.
  if (std::ranges::any_of(games_, &Listed::is_over)) publish_soon();
}

}  // namespace corolane::services::chess
