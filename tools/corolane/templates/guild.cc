// The rules of a guild. One call at a time runs in it, so there is no lock.
#include "guild.h"

namespace my_game {

Result<DonateReply> Guild::donate(const DonateRequest& request, rpc::Context& context) {
  if (request.gold() == 0 || request.gold() > config_.donation_max) {
    return Error(Code::invalid_argument, "gold: from 1 to " + std::to_string(config_.donation_max));
  }
  change().set_gold(state().gold() + request.gold());
  add_to_latest(context.principal().id, request.gold());
  publish(view());

  DonateReply reply;
  reply.set_gold(state().gold());
  return reply;
}

Result<LookReply> Guild::look(const LookRequest&, rpc::Context&) const { return view(); }

void Guild::add_to_latest(const std::string& player, std::uint64_t gold) {
  auto& latest = *change().mutable_latest();
  const std::uint64_t number = latest.empty() ? 1 : latest.rbegin()->number() + 1;
  if (latest.size() == latest_max) latest.DeleteSubrange(0, 1);
  Donation& donation = *latest.Add();
  donation.set_number(number);
  donation.set_player(player);
  donation.set_gold(gold);
}

LookReply Guild::view() const {
  LookReply view;
  view.set_gold(state().gold());
  *view.mutable_latest() = state().latest();
  return view;
}

}  // namespace my_game
