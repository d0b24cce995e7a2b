// SPDX-License-Identifier: MIT
#include "framework/routing/detail/push_service.h"

#include <string>
#include <vector>

#include "framework/objects/detail/object_host.h"
#include "framework/routing/detail/line_name.h"
#include "framework/routing/detail/object_router.h"

namespace corolane::framework::detail {

Result<void> PushService::open(const PublicationLine& request, rpc::Writer<PublicationFrame>& out,
                               rpc::Context&) {
  const LineName name = name_of(request);
  if (name == LineName()) return Error(Code::invalid_argument, "the line has no name");
  return router_.push().outlet_lines().serve(name, out);
}

Result<AttachReply> PushService::attach(const AttachRequest& request, rpc::Context& context) {
  const rpc::ObjectTarget* const target = context.object();
  if (target == nullptr || target->node_epoch == 0) {
    return Error(Code::invalid_argument, "only nodes may subscribe here");
  }
  const FeedAddress address{
      .shard = request.door(), .line = name_of(request.line()), .feed = request.feed()};
  if (address.line == LineName() || address.shard >= router_.shard_count()) {
    return Error(Code::invalid_argument, "no line of publications is named");
  }
  if (host_.find_type(request.type()) == nullptr) {
    return Error(Code::unimplemented, "this node hosts no objects of " + request.type());
  }
  const Position after{.epoch = request.after_epoch(), .sequence = request.after_sequence()};
  auto attached =
      router_.attach_to_node(request.type(), *target, address, after, context.deadline());
  if (!attached) return std::move(attached.error());
  return AttachReply();
}

Result<DetachReply> PushService::detach(const DetachRequest& request, rpc::Context&) {
  router_.push().outlet_lines().detach(name_of(request.line()),
                                       {request.feeds().begin(), request.feeds().end()});
  return DetachReply();
}

}  // namespace corolane::framework::detail
