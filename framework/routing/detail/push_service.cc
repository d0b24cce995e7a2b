// SPDX-License-Identifier: MIT
#include "framework/routing/detail/push_service.h"

#include "framework/objects/detail/publisher.h"

namespace corolane::framework::detail {

Result<void> PushService::subscribe(const SubscribeRequest& request,
                                    rpc::Writer<PublicationBatch>& out, rpc::Context& context) {
  const rpc::ObjectTarget* const target = context.object();
  if (target == nullptr || target->node_epoch == 0) {
    return Error(Code::invalid_argument, "only nodes may subscribe here");
  }
  HostedType* const type = host_.find_type(request.type());
  if (type == nullptr) {
    return Error(Code::unimplemented, "this node hosts no objects of " + request.type());
  }
  PublicationBatch frame;
  return publish_to(host_, *type, *target, [&](const PublishedBatch& batch) {
    frame.Clear();
    frame.set_epoch(batch.after.epoch);
    frame.set_sequence(batch.after.sequence);
    for (const Broadcast::Message& message : batch.messages) {
      message->SerializeToString(frame.add_messages());
    }
    return out.write(frame);
  });
}

}  // namespace corolane::framework::detail
