// SPDX-License-Identifier: MIT
#include "framework/edge/detail/publication_pushes.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <utility>

#include "framework/edge/follow.h"
#include "framework/edge/sessions.pb.h"
#include "framework/routing/detail/object_router.h"
#include "rpc/context.h"
#include "rpc/session.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {

PublicationPushes::PublicationPushes(Broadcast::Reader reader,
                                     const google::protobuf::Message& prototype, Position seen)
    : reader_(std::move(reader)),
      prototype_(prototype),
      type_(rpc::method_id(prototype.GetTypeName())),
      seen_(seen) {}

Result<std::unique_ptr<rpc::PushSource>> PublicationPushes::make(ObjectRouter& router,
                                                                 const std::string& record) {
  FollowRecord followed;
  if (!followed.ParseFromString(record) || followed.type().empty()) {
    return Error(Code::invalid_argument, "another server names no object to follow");
  }
  const auto* const descriptor =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(followed.message());
  if (descriptor == nullptr) {
    return Error(Code::unimplemented, "this node does not know " + followed.message());
  }
  const google::protobuf::Message& prototype =
      *google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor);
  const Position seen{.epoch = followed.epoch(), .sequence = followed.sequence()};
  return std::unique_ptr<rpc::PushSource>(std::make_unique<PublicationPushes>(
      router.subscribe_again(followed.type(), followed.id(), prototype, seen), prototype, seen));
}

Result<std::optional<rpc::News>> PublicationPushes::poll() {
  for (;;) {
    auto published = reader_.poll_bytes();
    if (!published) return std::move(published.error());
    if (!*published) return std::optional<rpc::News>();
    const Position& position = (*published)->position;
    if (position <= seen_) continue;
    seen_ = position;
    if ((*published)->bytes == nullptr) return std::optional(rpc::News());
    return std::optional(rpc::News{.type = type_, .bytes = std::move((*published)->bytes)});
  }
}

std::string PublicationPushes::record() const {
  FollowRecord followed;
  followed.set_type(reader_.source().type);
  followed.set_id(reader_.source().id);
  followed.set_message(prototype_.GetTypeName());
  followed.set_epoch(seen_.epoch);
  followed.set_sequence(seen_.sequence);
  return followed.SerializeAsString();
}

Result<std::uint32_t> follow(rpc::Context& call, Broadcast::Reader reader,
                             const google::protobuf::Message& prototype) {
  const std::shared_ptr<rpc::Session> session = call.session();
  if (session == nullptr) {
    return Error(Code::failed_precondition, "to follow this, a client keeps a session");
  }
  Position seen;
  if (!reader.has_begun()) {
    const auto begin = reader.next(call.deadline());
    if (!begin) return begin.error();
    seen = begin->position;
  }
  return session->follow(std::make_unique<PublicationPushes>(std::move(reader), prototype, seen));
}

}  // namespace corolane::framework::detail
