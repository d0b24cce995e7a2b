// Any player may follow any guild. A check of who may belongs here: nothing asks again.
#include "guilds_service.h"

#include <utility>

#include "coroutine/base/try.h"
#include "framework/edge/follow.h"
#include "guild.corolane.h"
#include "rpc/session.h"

namespace my_game {

corolane::Result<FollowReply> GuildsService::follow(const FollowRequest& request,
                                                    corolane::rpc::Context& context) {
  GuildClient guild(router_, request.guild());
  // First the news and then the state, so that no change is missed between them.
  COROLANE_TRY(const std::uint32_t group, corolane::framework::follow(context, guild.subscribe()));
  auto state = guild.look({});
  if (!state) {
    context.session()->unfollow(group);
    return state.error();
  }
  FollowReply reply;
  reply.set_group(group);
  *reply.mutable_state() = *std::move(state);
  return reply;
}

}  // namespace my_game
