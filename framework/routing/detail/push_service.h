// SPDX-License-Identifier: MIT
// Lets other nodes follow the objects of this node; clients have no access to it.
#pragma once

#include "framework/wire/push.corolane.h"

namespace corolane::framework::detail {

class ObjectHost;
class ObjectRouter;

class PushService final : public PushBase {
 public:
  // Both outlive it.
  PushService(ObjectHost& host, ObjectRouter& router) : host_(host), router_(router) {}

  Result<void> open(const PublicationLine& request, rpc::Writer<PublicationFrame>& out,
                    rpc::Context& context) override;
  Result<AttachReply> attach(const AttachRequest& request, rpc::Context& context) override;
  Result<DetachReply> detach(const DetachRequest& request, rpc::Context& context) override;

 private:
  ObjectHost& host_;
  ObjectRouter& router_;
};

}  // namespace corolane::framework::detail
