// SPDX-License-Identifier: MIT
#include "services/wilds/lair.h"

namespace corolane::services::wilds {

Result<StoreReply> Lair::store(const StoreRequest& request, rpc::Context&) {
  change().set_gold(state().gold() + request.gold());
  StoreReply reply;
  reply.set_hoard(state().gold());
  return reply;
}

}  // namespace corolane::services::wilds
