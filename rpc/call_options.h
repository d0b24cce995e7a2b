// SPDX-License-Identifier: MIT
// The options of one call, set by its caller.
//
//   auto reply = chess.move(request, {.deadline = Deadline::after(2s)});
#pragma once

#include <optional>

#include "coroutine/base/deadline.h"
#include "rpc/object_target.h"

namespace corolane::rpc {

class Headers;
struct Principal;
struct ReplyHeaders;

struct CallOptions {
  // How long the caller waits. Empty: the method's timeout, from now; Deadline::never() must be set
  // explicitly. Inside a handler no call outlasts the handler's own deadline. A server gives a node
  // what it asks for, and a client the method's timeout_max at most.
  std::optional<Deadline> deadline = {};

  // For calls of objects: a repeated call with the same id takes effect once and gets the same
  // reply, for RequestId::memory_time after the first one ended (framework/objects/object.h). So
  // such a call is retried even if it may have been executed; a deadline later than that time is
  // for calls without an id. Different clients cannot share an id: see Client::Options::requester.
  RequestId request_id = {};
  // Sent with the request; and set when the reply has arrived, or the error. Both may be null.
  const Headers* headers = nullptr;
  ReplyHeaders* reply_headers = nullptr;
  // Set by framework::Router, which makes the calls of objects; null for calls of services. The
  // principal is the one on whose behalf a node calls; only servers at the door of nodes believe
  // it.
  const ObjectTarget* object = nullptr;
  const Principal* principal = nullptr;
};

}  // namespace corolane::rpc
