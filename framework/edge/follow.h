// SPDX-License-Identifier: MIT
// Lets the client of a call follow what an object publishes, over its session (rpc/session.h).
//
//   Result<EnterReply> Rooms::enter(const EnterRequest& request, rpc::Context& call) {
//     RoomClient room(router_, request.room());
//     auto group = follow(call, room.subscribe());
//     if (!group) return group.error();
//     auto picture = room.look({});
//     if (!picture) {
//       call.session()->unfollow(*group);  // The client does not know of it.
//       return picture.error();
//     }
//     EnterReply reply;
//     reply.set_group(*group);
//     *reply.mutable_picture() = *std::move(picture);
//     return reply;
//   }
//
// The method that says so is the client's right to the news: nothing asks again. From then on the
// publications of the object come as news of that group (PushSink, rpc/client/push_sink.h), each
// serialised once for all sessions of the shard. No task waits for them.
//
// The client keeps the group over its connections. It comes on behind the last publication also
// when the session moves to another shard or node, unless more was published meanwhile than is
// kept: then the client is told a gap, and asks for the whole picture again.
#pragma once

#include <cstdint>
#include <utility>

#include "coroutine/base/result.h"
#include "framework/push/subscription.h"

namespace corolane::rpc {
class Context;
}

namespace corolane::framework {
namespace detail {

Result<std::uint32_t> follow(rpc::Context& call, Broadcast::Reader reader,
                             const google::protobuf::Message& prototype);

}  // namespace detail

// Returns the number of the group, for the reply. A picture of the object that is taken afterwards
// misses nothing that does not come as news. Publications that such a picture includes may come,
// too. Suspends. Fails with failed_precondition when the client keeps no session, with
// resource_exhausted when that follows 64 groups, and as Subscription::next().
template <typename T>
Result<std::uint32_t> follow(rpc::Context& call, Subscription<T> subscription) {
  return detail::follow(call, std::move(subscription.reader_), T::default_instance());
}

}  // namespace corolane::framework
