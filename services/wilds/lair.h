// SPDX-License-Identifier: MIT
// The object of one lair: a hoard that grows.
#pragma once

#include "services/wilds/lair.corolane.h"

namespace corolane::services::wilds {

class Lair : public LairObject {
 public:
  Result<StoreReply> store(const StoreRequest& request, rpc::Context& context) override;
};

}  // namespace corolane::services::wilds
