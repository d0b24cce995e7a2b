// Filters: plain functions around calls, for what concerns all of them: logging, metrics, tracing,
// authentication.
//
//   server.add_filter([&](rpc::Context& call, const rpc::Next& next) -> Result<void> {
//     if (!tokens.contains(call.authorization())) {
//       return Error(Code::unauthenticated, "log in first");
//     }
//     auto result = next();
//     log.info("served", {{"method", call.method()}, {"ok", result.has_value()}});
//     return result;
//   });
//
// They run in the order in which they were added, the first one outermost, in the task of the call;
// they may suspend. One that does not call next() ends the call with what it returns. They see the
// outcome, and cannot change a reply: it is on its way when next() returns. Whoever only wants to
// know what came of a call is an observer, which costs less.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <functional>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/call_options.h"
#include "rpc/context.h"
#include "rpc/service.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

// The rest of a call: the filters that are left, and then the call itself.
class Next {
 public:
  // To be called once, or not at all. Suspends.
  Result<void> operator()() const { return run_(state_, index_); }

  // For those that build chains.
  using Run = Result<void> (*)(void* state, std::size_t index);
  Next(Run run, void* state, std::size_t index) : run_(run), state_(state), index_(index) {}

 private:
  Run run_;
  void* state_;
  std::size_t index_;
};

using ServerFilter = std::function<Result<void>(Context& call, const Next& next)>;

// Told of each call that has run, behind all filters: in its task, but it must not suspend.
using ServerObserver = std::function<void(Context& call, const Result<void>& outcome)>;

// Of which successes an observer is told; of failures it always is. It may move its bar whenever it
// is told of a call, and elsewhere in the server's thread: the calls that are below it then cost
// nothing.
struct CallBar {
  Duration took_max = Duration::min();       // It took longer, from when the request was read,
  TimePoint ends_before = TimePoint::max();  // or ended then or later.
};

// A call that a client makes, with all its attempts; of a stream, until it is open.
struct OutgoingCall {
  const Method& method;
  const google::protobuf::Message& request;
  CallOptions& options;     // May be changed before next().
  std::string_view peer;    // "host:port" as the client was told.
  TraceContext trace = {};  // Goes along with the request when it is valid.
};

using ClientFilter = std::function<Result<void>(OutgoingCall& call, const Next& next)>;

}  // namespace corolane::rpc
