// SPDX-License-Identifier: MIT
#include "framework/node/detail/inspection_service.h"

#include <cstdint>
#include <utility>

#include "framework/node/detail/object_loads.h"
#include "framework/node/detail/object_waits.h"

namespace corolane::framework::detail {

Result<PageReply> InspectionService::page(const PageRequest& request, rpc::Context& context) {
  auto page = pages_.get(request.target(), context.deadline());
  if (!page) return page.error();
  PageReply reply;
  reply.set_status(static_cast<std::uint32_t>(page->status));
  reply.set_body(std::move(page->body));
  return reply;
}

Result<WaitsReply> InspectionService::waits(const WaitsRequest& request, rpc::Context&) {
  return waits_of(shard_, request);
}

Result<LoadsReply> InspectionService::loads(const LoadsRequest&, rpc::Context&) {
  return loads_of(shard_);
}

}  // namespace corolane::framework::detail
