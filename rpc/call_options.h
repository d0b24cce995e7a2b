// SPDX-License-Identifier: MIT
// The options of one call, set by its caller.
//
//   auto reply = chess.move(request, {.deadline = Deadline::after(2s), .authorization = token});
#pragma once

#include <optional>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "rpc/object_target.h"

namespace corolane::rpc {

struct CallOptions {
  // How long the caller waits. Empty: the method's timeout, from now; Deadline::never() must be set
  // explicitly. Inside a handler no call outlasts the handler's own deadline.
  std::optional<Deadline> deadline = {};

  // The caller's token, for the filters of the server. Valid during the call.
  std::string_view authorization = {};

  // For calls of objects: a repeated call with the same id takes effect once and gets the same
  // reply, for RequestId::memory_time after the first one ended (framework/objects/object.h). So
  // such a call is retried even if it may have been executed; a deadline later than that time is
  // for calls without an id. Different clients cannot share an id: see Client::Options::requester.
  RequestId request_id = {};
  // Set by framework::Router, which makes the calls of objects; null for calls of services.
  const ObjectTarget* object = nullptr;
};

}  // namespace corolane::rpc
