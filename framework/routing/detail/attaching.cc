// SPDX-License-Identifier: MIT
// The router attaches feeds to objects, wherever they live.
#include <utility>

#include "coroutine/call_on.h"
#include "framework/objects/detail/publisher.h"
#include "framework/routing/detail/line_name.h"
#include "framework/routing/detail/object_router.h"
#include "framework/wire/push.corolane.h"

namespace corolane::framework::detail {

Result<FeedPlace> ObjectRouter::attach(const Feed& feed) {
  const Route& route = route_of_type(feed.type());
  Attaching attaching{.number = feed.number(), .after = feed.broadcast()->position(), .place = {}};
  auto attached = call_for_feed({.method = follow_method,
                                 .route = route,
                                 .id = feed.id(),
                                 .request = AttachRequest::default_instance(),
                                 .reply = nullptr,
                                 .options = {},
                                 .principal = nullptr,
                                 .chain = nullptr,
                                 .deadline = Deadline::after(follow_method.timeout),
                                 .partition = route.partition_of(feed.id()),
                                 .feed = &attaching});
  if (!attached) return std::move(attached.error());
  return attaching.place;
}

FeedOwner ObjectRouter::owner_of(const Feed& feed) {
  const Route& route = route_of_type(feed.type());
  const OwnerMark mark = place_of(route, route.partition_of(feed.id())).mark();
  return {.node_epoch = mark.node_epoch, .partition_epoch = mark.partition_epoch};
}

Result<void> ObjectRouter::attach_at(Place& place, const Call& call) {
  if (place.kind == Place::Kind::other_node) return attach_other_node(place, call);
  call.feed->place = {.shard = place.shard, .line = {}};
  return attach_to_node(call.route.type, {.id = call.id},
                        {.shard = index_, .line = {}, .feed = call.feed->number}, call.feed->after,
                        call.deadline);
}

Result<void> ObjectRouter::attach_here(const std::string& type, const rpc::ObjectTarget& target,
                                       const FeedAddress& address, Position after) {
  if (is_stopped_) return Error(Code::unavailable, "the node stops").with_not_executed();
  auto reader = read_publications(*host_, *host_->find_type(type), target, after);
  if (!reader) return std::move(reader.error());
  push_.outlets().add(address, *std::move(reader));
  return {};
}

Result<void> ObjectRouter::attach_to_node(const std::string& type, const rpc::ObjectTarget& target,
                                          const FeedAddress& address, Position after,
                                          Deadline deadline) {
  const std::size_t shard = shard_of(route_of_type(type).partition_of(target.id), peers_.size());
  if (shard == index_) return attach_here(type, target, address, after);
  // The thread of that shard may have ended: a node stops the calls of all shards first.
  if (is_stopped_) return Error(Code::unavailable, "the node stops").with_not_executed();
  const Peer& peer = peers_[shard];
  return coroutine::call_on_or_leave(
      *peer.scheduler, follow_method.full_name,
      [router = peer.router, type, id = std::string(target.id), node_epoch = target.node_epoch,
       partition_epoch = target.partition_epoch, address, after] {
        const rpc::ObjectTarget there{
            .id = id, .node_epoch = node_epoch, .partition_epoch = partition_epoch};
        return router->attach_here(type, there, address, after);
      },
      deadline, {.waited_for = follow_method.full_name, .group = &peer.router->incoming_});
}

Result<void> ObjectRouter::attach_other_node(Place& place, const Call& call) {
  const rpc::ObjectTarget target{
      .id = call.id, .node_epoch = place.member->epoch, .partition_epoch = place.partition_epoch};
  const std::size_t door = place.shard;
  const auto client = clients_.of(*place.member, door);
  const auto open = [&] {
    return push_.feed_lines().open(place.member->epoch, view_->self_epoch(), client, call.deadline);
  };
  const auto attach = [&]() -> Result<void> {
    auto line = open();
    if (!line) return std::move(line.error());
    call.feed->place = {.shard = door, .line = *line};
    AttachRequest request;
    request.set_type(call.route.type);
    *request.mutable_line() = to_message(*line);
    request.set_door(static_cast<std::uint32_t>(door));
    request.set_feed(call.feed->number);
    request.set_after_epoch(call.feed->after.epoch);
    request.set_after_sequence(call.feed->after.sequence);
    auto attached =
        PushClient(*client).attach(request, {.deadline = call.deadline, .object = &target});
    if (!attached) return std::move(attached.error());
    if (push_.feed_lines().is_open(*line)) return {};
    return Error(Code::unavailable, "the line of publications was closed meanwhile");
  };
  auto attached = attach();
  place.is_lost = !attached && !client->is_connected();
  return attached;
}

}  // namespace corolane::framework::detail
