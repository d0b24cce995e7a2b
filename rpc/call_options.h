// What a caller may say of one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "rpc/object_target.h"

namespace corolane::rpc {

struct CallOptions {
  // Until when to wait. Without one the method's own timeout counts from now; Deadline::never()
  // has to be spelled out. Inside a handler no call outlasts the handler's own deadline.
  std::optional<Deadline> deadline = {};

  // Calls of one client with the same key, other than zero, reach the server in the order in which
  // they were made, also when one has to be tried again: later ones wait behind it.
  std::uint64_t order_key = 0;

  // Who calls, for the filters of the server: a token of theirs. Valid during the call.
  std::string_view authorization = {};

  // Of an object: the same one again takes effect once, and is replied the same, for
  // RequestId::memory_time after its first end (framework/objects/object.h). So it is tried again
  // where it may have been executed; a deadline that is later than that is for calls without an id.
  // Those of one client are no other's: see Client::Options::requester.
  RequestId request_id = {};
  // Set by framework::Router, which makes such calls; null for calls of services.
  const ObjectTarget* object = nullptr;
};

}  // namespace corolane::rpc
