// SPDX-License-Identifier: MIT
// Lets other nodes follow the objects of this shard; clients have no access to it.
#pragma once

#include "framework/objects/detail/object_host.h"
#include "framework/wire/push.corolane.h"

namespace corolane::framework::detail {

class PushService final : public PushBase {
 public:
  // `host` outlives it.
  explicit PushService(ObjectHost& host) : host_(host) {}

  Result<void> subscribe(const SubscribeRequest& request, rpc::Writer<PublicationBatch>& out,
                         rpc::Context& context) override;

 private:
  ObjectHost& host_;
};

}  // namespace corolane::framework::detail
