// SPDX-License-Identifier: MIT
// The publications of an object on its own shard, for a feed of any shard.
#pragma once

#include "coroutine/base/result.h"
#include "framework/push/detail/broadcast.h"
#include "rpc/object_target.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class HostedType;
class ObjectHost;

// The method by which an object is followed: every object has it, and callers do not see it.
extern const rpc::Method follow_method;

// Reads the publications of the object behind `after`, if what follows is still known, or from now
// on. The object is activated if needed. Suspends. Fails as
// ObjectHost::serve_or_send_on() if the target names this node, as serve() if it names none.
Result<Broadcast::Reader> read_publications(ObjectHost& host, HostedType& type,
                                            const rpc::ObjectTarget& target, Position after);

}  // namespace corolane::framework::detail
