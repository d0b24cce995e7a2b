// SPDX-License-Identifier: MIT
#include "framework/objects/detail/publisher.h"

#include <chrono>
#include <optional>

#include "coroutine/task.h"
#include "framework/objects/detail/hosted_type.h"
#include "framework/objects/detail/object_cell.h"
#include "framework/objects/detail/object_host.h"
#include "framework/wire/push.pb.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {
namespace {

// The limit for activating the object and getting a turn.
constexpr std::chrono::seconds attach_time_max(10);

// The context of the internal follow call; it carries the reader out of the handler.
class FollowContext : public rpc::Context {
 public:
  FollowContext(const google::protobuf::Message& request, const Facts& facts, Position from)
      : Context(follow_method, request, facts), after(from) {}

  const Position after;
  std::optional<Broadcast::Reader> reader;
};

// The only result is the reader in the context.
class NoReply final : public rpc::Messages {
 public:
  Result<void> reply(google::protobuf::Message&) override { return {}; }
  Result<void> write(const google::protobuf::Message&) override { return {}; }
};

Result<void> read_object(rpc::Service& service, const google::protobuf::Message&,
                         rpc::Context& context, rpc::Messages&) {
  ObjectCell& cell = ObjectCell::of(static_cast<ObjectBase&>(service));
  auto& following = static_cast<FollowContext&>(context);
  following.reader.emplace(cell.topic().read(following.after));
  return {};
}

}  // namespace

constinit const rpc::Method follow_method = {
    .full_name = "corolane.framework.Push/Attach",
    .id = rpc::method_id("corolane.framework.Push/Attach"),
    .timeout = attach_time_max,
    .stack_size_bytes = coroutine::StackPool::stack_size_bytes_default,
    .read_only = true,
    .invoke = read_object,
};

Result<Broadcast::Reader> read_publications(ObjectHost& host, HostedType& type,
                                            const rpc::ObjectTarget& target, Position after) {
  const rpc::Context::Facts facts{.deadline = Deadline::after(attach_time_max),
                                  .arrived_at = coroutine::Scheduler::current().turn_time(),
                                  .object = &target};
  const AttachRequest request;
  FollowContext context(request, facts, after);
  NoReply sink;
  // In a task of its own, as any handler.
  auto attaching = coroutine::spawn(follow_method.full_name, [&] {
    return target.node_epoch == 0
               ? host.serve(type, follow_method, request, context, sink)
               : host.serve_or_send_on(type, follow_method, request, context, sink);
  });
  if (auto attached = attaching.join(Deadline::never()); !attached) return attached.error();
  return *std::move(context.reader);
}

}  // namespace corolane::framework::detail
