// SPDX-License-Identifier: MIT
// The object that brings together players who want the same kind of game.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class Lobby : public LobbyObject {
 public:
  Result<MeetReply> meet(const MeetRequest& request, rpc::Context& context) override;

 private:
  // A waiting player, on the stack of that call.
  struct Seeker {
    std::string player;
    std::int32_t rating;
    TimePoint since = now();
    std::optional<MeetReply> met = std::nullopt;
  };

  Result<void> wait_until_met(Seeker& seeker);
  // The waiting player nearest by rating. The allowed distance is the larger one of the two, which
  // grows with waiting: so even in a full lobby a player far from all others is found.
  Seeker* best_for(const Seeker& seeker) const;
  void introduce(Seeker& white, Seeker& black) const;

  std::list<Seeker*> waiting_;
};

}  // namespace corolane::services::chess
