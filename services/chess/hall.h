// SPDX-License-Identifier: MIT
// The object that lists the running games for spectators.
//
// Games tell it about themselves and never wait for it, so it may be slow, away, or new and empty.
// It lists the games that it has heard of last.
#pragma once

#include <cstddef>
#include <list>
#include <string>

#include "coroutine/base/clock.h"
#include "services/chess/game.corolane.h"

namespace corolane::services::chess {

class Hall : public HallObject {
 public:
  // There is one.
  static constexpr const char* name = "hall";
  static constexpr std::size_t games_max = 50;

  Result<void> tell(const ListedGame& request, rpc::Context& context) override;
  Result<ListGamesReply> look(const ListGamesRequest& request,
                              rpc::Context& context) const override;

 private:
  struct Listed {
    ListedGame game;
    TimePoint heard_at = now();
    bool is_over() const { return game.outcome() != "unfinished"; }
    // It is over for a while, or has been silent for too long.
    bool is_stale() const;
  };

  // Publishes the list soon, with what else changes until then.
  void publish_soon();
  void publish_list();

  std::list<Listed> games_;  // The latest first.
  bool will_publish_ = false;
};

}  // namespace corolane::services::chess
