// SPDX-License-Identifier: MIT
#include "framework/node/detail/inspection_service.h"

#include "framework/node/detail/object_loads.h"
#include "framework/node/detail/object_waits.h"

namespace corolane::framework::detail {

Result<WaitsReply> InspectionService::waits(const WaitsRequest& request, rpc::Context&) {
  return waits_of(shard_, request.count_max());
}

Result<LoadsReply> InspectionService::loads(const LoadsRequest&, rpc::Context&) {
  return loads_of(shard_);
}

}  // namespace corolane::framework::detail
