// SPDX-License-Identifier: MIT
#include "framework/node/detail/inspection_service.h"

#include "framework/node/detail/object_waits.h"

namespace corolane::framework::detail {

Result<WaitsReply> InspectionService::waits(const WaitsRequest& request, rpc::Context&) {
  return waits_of(shard_, request.count_max());
}

}  // namespace corolane::framework::detail
