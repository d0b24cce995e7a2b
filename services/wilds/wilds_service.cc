// SPDX-License-Identifier: MIT
#include "services/wilds/wilds_service.h"

namespace corolane::services::wilds {

Result<LookReply> WildsService::look(const LookRequest&, rpc::Context&) {
  const World::Chronicle& chronicle = world_.chronicle();
  LookReply reply;
  reply.set_monsters(world_.monster_count());
  reply.set_steps(chronicle.steps);
  reply.set_drinks(chronicle.drinks);
  reply.set_gold_delivered(chronicle.gold_delivered);
  reply.set_failed_deliveries(chronicle.failed_deliveries);
  return reply;
}

}  // namespace corolane::services::wilds
