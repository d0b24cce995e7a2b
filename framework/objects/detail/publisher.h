// What an object publishes, where it lives, for a shard that follows it.
#pragma once

#include <functional>

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "rpc/object_target.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class HostedType;
class ObjectHost;

// Called with one batch after the other: suspends while there is no room for it.
using SendBatch = std::function<Result<void>(const PublishedBatch& batch)>;

// The method by which an object is followed: one that all of them have, and no caller sees.
extern const rpc::Method follow_method;

// Sends what the object publishes, which is made if need be. Suspends until it lives here no more,
// which is success. Fails as ObjectHost::serve_or_send_on() if the target names this node, and as
// serve() if it names none; and with the error of `send`.
Result<void> publish_to(ObjectHost& host, HostedType& type, const rpc::ObjectTarget& target,
                        const SendBatch& send);

}  // namespace corolane::framework::detail
