// The service of guilds for players: it lets their sessions follow one.
#pragma once

#include "framework/routing/router.h"
#include "guilds.corolane.h"

namespace my_game {

class GuildsService : public GuildsBase {
 public:
  // `router` outlives it.
  explicit GuildsService(corolane::framework::Router& router) : router_(router) {}

  corolane::Result<FollowReply> follow(const FollowRequest& request,
                                       corolane::rpc::Context& context) override;

 private:
  corolane::framework::Router& router_;
};

}  // namespace my_game
