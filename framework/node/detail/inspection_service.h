// SPDX-License-Identifier: MIT
// Serves other nodes' queries for their pages about the whole cluster; clients have no access to
// it.
#pragma once

#include <utility>

#include "framework/node/detail/node_pages.h"
#include "framework/node/inspection.corolane.h"

namespace corolane::framework {

class Shard;

namespace detail {

class InspectionService final : public InspectionBase {
 public:
  // `shard` outlives it.
  InspectionService(const Shard& shard, NodePages pages)
      : shard_(shard), pages_(std::move(pages)) {}

  Result<PageReply> page(const PageRequest& request, rpc::Context& context) override;
  Result<WaitsReply> waits(const WaitsRequest& request, rpc::Context& context) override;
  Result<LoadsReply> loads(const LoadsRequest& request, rpc::Context& context) override;

 private:
  const Shard& shard_;
  const NodePages pages_;
};

}  // namespace detail
}  // namespace corolane::framework
