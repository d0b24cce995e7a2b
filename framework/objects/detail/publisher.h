// SPDX-License-Identifier: MIT
// Sends the publications of an object from its own shard to a shard that follows it.
#pragma once

#include <functional>

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "rpc/object_target.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class HostedType;
class ObjectHost;

// Called once per batch; suspends while the receiver has no room.
using SendBatch = std::function<Result<void>(const PublishedBatch& batch)>;

// The method by which an object is followed: every object has it, and callers do not see it.
extern const rpc::Method follow_method;

// Sends the publications of the object, which is activated if needed. Suspends until the object
// leaves this shard, which is success. Fails as ObjectHost::serve_or_send_on() if the target names
// this node, as serve() if it names none, or with the error of `send`.
Result<void> publish_to(ObjectHost& host, HostedType& type, const rpc::ObjectTarget& target,
                        const SendBatch& send);

}  // namespace corolane::framework::detail
