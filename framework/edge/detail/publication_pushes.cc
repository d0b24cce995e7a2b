// SPDX-License-Identifier: MIT
#include "framework/edge/detail/publication_pushes.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <utility>

#include "framework/edge/follow.h"
#include "framework/edge/sessions.pb.h"
#include "framework/routing/detail/object_router.h"
#include "rpc/context.h"
#include "rpc/options.pb.h"
#include "rpc/session.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {
namespace {

// The message that the objects of that type publish, as this program knows them; null: it does not.
const google::protobuf::Message* published_by(const std::string& type) {
  const auto& pool = *google::protobuf::DescriptorPool::generated_pool();
  const auto* const service = pool.FindServiceByName(type);
  if (service == nullptr) return nullptr;
  const std::string& name = service->options().GetExtension(corolane::object).publishes();
  if (name.empty()) return nullptr;
  // A name with a dot before it is whole. Others are looked up as protoc does for the type of a
  // field: in the package, and then in those around it.
  const bool is_whole = name.starts_with('.');
  std::string scope = is_whole ? "" : service->file()->package() + '.';
  const google::protobuf::Descriptor* message = nullptr;
  for (;;) {
    message = pool.FindMessageTypeByName(scope + name.substr(is_whole ? 1 : 0));
    if (message != nullptr || scope.empty()) break;
    const std::size_t dot = scope.rfind('.', scope.size() - 2);
    scope.resize(dot == std::string::npos ? 0 : dot + 1);
  }
  if (message == nullptr) return nullptr;
  return google::protobuf::MessageFactory::generated_factory()->GetPrototype(message);
}

}  // namespace

PublicationPushes::PublicationPushes(Broadcast::Reader reader,
                                     const google::protobuf::Message& prototype, Position seen)
    : reader_(std::move(reader)), type_(rpc::method_id(prototype.GetTypeName())), seen_(seen) {}

Result<std::unique_ptr<rpc::PushSource>> PublicationPushes::make(ObjectRouter& router,
                                                                 const std::string& record) {
  FollowRecord followed;
  if (!followed.ParseFromString(record) || followed.type().empty()) {
    return Error(Code::invalid_argument, "another server names no object to follow");
  }
  const google::protobuf::Message* const prototype = published_by(followed.type());
  if (prototype == nullptr) {
    return Error(Code::unimplemented,
                 "this node does not know what " + followed.type() + " publishes");
  }
  const Position seen{.epoch = followed.epoch(), .sequence = followed.sequence()};
  return std::unique_ptr<rpc::PushSource>(std::make_unique<PublicationPushes>(
      router.subscribe_again(followed.type(), followed.id(), *prototype, seen), *prototype, seen));
}

Result<std::optional<rpc::News>> PublicationPushes::poll() {
  for (;;) {
    auto published = reader_.poll_bytes();
    if (!published) {
      has_stopped_ = published.error().code() == Code::unavailable;
      if (!has_stopped_) return std::move(published.error());
      return std::optional<rpc::News>();
    }
    if (!*published) return std::optional<rpc::News>();
    const Position& position = (*published)->position;
    if (position <= seen_) continue;
    seen_ = position;
    if ((*published)->bytes == nullptr) return std::optional(rpc::News());
    return std::optional(rpc::News{.type = type_, .bytes = std::move((*published)->bytes)});
  }
}

void PublicationPushes::when_readable(std::function<void()> note) {
  if (!has_stopped_) reader_.when_readable(std::move(note));
}

std::string PublicationPushes::record() const {
  FollowRecord followed;
  followed.set_type(reader_.source().type);
  followed.set_id(reader_.source().id);
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
