// SPDX-License-Identifier: MIT
// Filters: plain functions around calls, for concerns that all calls share: logging, metrics,
// tracing, authentication.
//
//   server.add_filter([&](rpc::Context& call, const rpc::Next& next) -> Result<void> {
//     if (call.principal().is_anonymous()) return Error(Code::unauthenticated, "log in first");
//     auto result = next();
//     log.info("served", {{"method", call.method()}, {"ok", result.has_value()}});
//     return result;
//   });
//
// Filters run in the order in which they were added, the first one outermost, in the task of the
// call; they may suspend. A filter that does not call next() ends the call with its own result.
// A filter reads the reply and sets headers of it after next(), but does not change its message.
// One that does neither says so (FilterSees::outcomes): then the reply is not kept for it. Use an
// observer, which costs less still, where only the outcome of a call matters.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/call_options.h"
#include "rpc/context.h"
#include "rpc/service.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

// The rest of a call: the remaining filters, then the call itself.
class Next {
 public:
  // Call it at most once. Suspends.
  Result<void> operator()() const { return run_(state_, index_); }

  // For code that builds chains.
  using Run = Result<void> (*)(void* state, std::size_t index);
  Next(Run run, void* state, std::size_t index) : run_(run), state_(state), index_(index) {}

 private:
  Run run_;
  void* state_;
  std::size_t index_;
};

// Says what a filter of a server looks at after next(). With `outcomes` the reply is on its way by
// then, with its headers, unless another filter sees replies.
enum class FilterSees : std::uint8_t { replies, outcomes };

using ServerFilter = std::function<Result<void>(Context& call, const Next& next)>;

// Called after all filters for each call that has run, in its task. Must not suspend.
using ServerObserver = std::function<void(Context& call, const Result<void>& outcome)>;

// Selects the successful calls that an observer sees; it sees all failures. The observer may move
// its bar at any time on the server's thread. Calls below the bar cost it nothing.
struct CallBar {
  Duration took_max = Duration::min();       // The call took longer since its request was read,
  TimePoint ends_before = TimePoint::max();  // or ended then or later.
};

// A call that a client makes, with all its attempts; for a stream, until it is open.
struct OutgoingCall {
  const Method& method;
  const google::protobuf::Message& request;
  CallOptions& options;     // May be changed before next().
  std::string_view peer;    // "host:port", as given to the client.
  TraceContext trace = {};  // Sent with the request when it is valid.
  // The reply, after a next() that succeeded; null for calls without exactly one reply.
  const google::protobuf::Message* reply = nullptr;
};

using ClientFilter = std::function<Result<void>(OutgoingCall& call, const Next& next)>;

}  // namespace corolane::rpc
