// The object that brings together who wants the same kind of game.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "coroutine/sync/event.h"
#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class Lobby : public LobbyObject {
 public:
  Result<MeetReply> meet(const MeetRequest& request, rpc::Context& context) override;

 private:
  // Somebody who waits, on the stack of that call.
  struct Seeker {
    std::string player;
    std::int32_t rating;
    TimePoint since = now();
    std::optional<MeetReply> met = std::nullopt;
    coroutine::Event changed{"opponent in the lobby"};
  };

  Result<void> wait_until_met(Seeker& seeker, Deadline deadline);
  // Who waits and is nearest by rating. May be as far away as the one of both would go who has
  // waited longer: so in a full lobby, too, somebody far from all others is found.
  Seeker* best_for(const Seeker& seeker) const;
  void introduce(Seeker& white, Seeker& black) const;

  std::list<Seeker*> waiting_;
};

}  // namespace corolane::services::chess
