// SPDX-License-Identifier: MIT
// Serves other nodes' queries for their pages about the whole cluster; clients have no access to
// it.
#pragma once

#include "framework/node/inspection.corolane.h"

namespace corolane::framework {

class Shard;

namespace detail {

class InspectionService final : public InspectionBase {
 public:
  // `shard` outlives it.
  explicit InspectionService(const Shard& shard) : shard_(shard) {}

  Result<WaitsReply> waits(const WaitsRequest& request, rpc::Context& context) override;
  Result<LoadsReply> loads(const LoadsRequest& request, rpc::Context& context) override;

 private:
  const Shard& shard_;
};

}  // namespace detail
}  // namespace corolane::framework
