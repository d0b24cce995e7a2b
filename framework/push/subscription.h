// SPDX-License-Identifier: MIT
// Groups and push: an object publishes to its subscribers, for example the players in a room, the
// members of a guild, or the connections of spectators.
//
//   service Room {
//     option (corolane.object) = {state: "RoomState" publishes: "RoomEvent"};
//     rpc Say(SayRequest) returns (SayReply);
//     rpc Look(LookRequest) returns (Picture) { option (corolane.method).read_only = true; }
//   }
//
//   publish(event);  // The object, in its turn.
//
//   // A service of streams:
//   Result<void> watch(const WatchRequest& request, rpc::Writer<News>& out, rpc::Context& call) {
//     RoomClient room(router_, request.room());
//     auto events = room.subscribe();
//     for (;;) {
//       auto event = events.next(call.deadline());
//       if (!event) return event.error();
//       // First of all, and whenever something may be missing, all there is to see.
//       auto news = event->is_gap() ? picture_of(room) : news_of(**event);
//       if (!news) return news.error();
//       if (auto written = out.write(*news); !written) return written;
//     }
//   }
//
// Each subscriber receives the publications of an object in order, none of them twice, and none of
// an earlier owner after one of a later owner. A gap marks a place where some may be missing: at
// the beginning, when the object has moved or its node was lost, and for a subscriber that reads so
// slowly that its backlog exceeds the bounds (detail/broadcast.h). So publishing never waits for a
// subscriber, and a slow one costs no more memory than the others.
//
// When a picture carries the object's position(), subscribers can skip what it already includes:
// the publications up to that position.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"
#include "framework/push/subscription_source.h"

namespace corolane::rpc {
class Context;
}

namespace corolane::framework {

class ObjectBase;

// A subscription to one object, wherever it lives. While it exists the object is in use. Move-only;
// belongs to the shard of its router. One task reads it.
template <typename T>
class Subscription {
 public:
  // `type` is "package.Room". Never suspends. `source` is a router, which outlives it.
  Subscription(SubscriptionSource& source, std::string_view type, const std::string& id)
      : reader_(source.subscribe(type, id, T::default_instance())) {}

  // Suspends until there is a publication. The first is a gap, as soon as the object is found; like
  // a call, a subscription activates it. Fails with deadline_exceeded or cancelled, after which it
  // can be called again. Other errors are final and those of Router::call(), but transient ones are
  // retried: while the object has no owner, or its store is away, the search continues.
  Result<Publication<T>> next(Deadline deadline) {
    auto published = reader_.next(deadline);
    if (!published) return std::move(published.error());
    return Publication<T>(*std::move(published));
  }

 private:
  friend class ObjectBase;
  template <typename U>
  friend Result<std::uint32_t> follow(rpc::Context& call, Subscription<U> subscription);

  detail::Broadcast::Reader reader_;
};

}  // namespace corolane::framework
