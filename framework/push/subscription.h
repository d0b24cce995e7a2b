// Groups and push: what an object publishes, for whoever subscribes to it: players in a room,
// members of a guild, the connections of those who watch.
//
//   service Room {
//     option (corolane.object) = {state: "RoomState" publishes: "RoomEvent"};
//     rpc Say(SayRequest) returns (SayReply);
//     rpc Look(LookRequest) returns (Picture) { option (corolane.method).read_only = true; }
//   }
//
//   The object, in its turn:  publish(event);
//
//   A service of streams:
//   Result<void> watch(const WatchRequest& request, rpc::Writer<News>& out, rpc::Context& context)
//   {
//     RoomClient room(router_, request.room());
//     auto events = room.subscribe();
//     for (;;) {
//       auto event = events.next(context.deadline());
//       if (!event) return event.error();
//       // First of all, and whenever something may be missing, all there is to see.
//       auto news = event->is_gap() ? picture_of(room) : news_of(**event);
//       if (!news) return news.error();
//       if (auto written = out.write(*news); !written) return written;
//     }
//   }
//
// What an object publishes reaches each subscriber in that order, nothing of it twice, and nothing
// of an earlier owner of the object after something of a later one. Where something may be missing
// stands a gap: at the beginning, when the object has moved or its node was lost, and for whoever
// reads so slowly that more waits than is kept (detail/broadcast.h). So publishing never waits for
// a subscriber, and a slow one costs no more memory than the others.
//
// Whoever puts position() of the object into the picture that it answers with can leave out what
// the picture has already: publications up to that position.
#pragma once

#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "framework/push/publication.h"
#include "framework/routing/router.h"

namespace corolane::framework {

class ObjectBase;

// To one object, wherever it lives, for as long as this exists: an object with subscribers is in
// use. Move-only; belongs to the shard of its router. One task reads it.
template <typename T>
class Subscription {
 public:
  // `type` is "package.Room". Never suspends. `router` outlives it.
  Subscription(Router& router, std::string_view type, const std::string& id)
      : reader_(router.subscribe(type, id, T::default_instance())) {}

  // Suspends until there is something. The first is a gap, as soon as the object was found; it is
  // made, if need be, as for a call. Fails with deadline_exceeded or cancelled, and can be asked
  // again; and for good as Router::call(), but not with what passes by itself: as long as nobody
  // owns the object, or its store is away, it is looked for.
  Result<Publication<T>> next(Deadline deadline) {
    auto published = reader_.next(deadline);
    if (!published) return std::move(published.error());
    return Publication<T>(*std::move(published));
  }

 private:
  friend class ObjectBase;

  detail::Broadcast::Reader reader_;
};

}  // namespace corolane::framework
