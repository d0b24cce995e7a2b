// The rules of a guild. One call at a time runs in it, so there is no lock.
#include "guild.h"

namespace my_game {

Result<DonateReply> Guild::donate(const DonateRequest& request, rpc::Context&) {
  if (request.gold() == 0 || request.gold() > config_.donation_max) {
    return Error(Code::invalid_argument, "gold: from 1 to " + std::to_string(config_.donation_max));
  }
  change().set_gold(state().gold() + request.gold());

  DonateReply reply;
  reply.set_gold(state().gold());
  return reply;
}

Result<LookReply> Guild::look(const LookRequest&, rpc::Context&) const {
  LookReply reply;
  reply.set_gold(state().gold());
  return reply;
}

}  // namespace my_game
