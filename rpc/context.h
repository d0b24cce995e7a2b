// What a handler knows of the call that it serves.
#pragma once

#include <google/protobuf/message.h>

#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "rpc/object_target.h"
#include "rpc/security.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

struct Method;
struct Principal;

class Context {
 public:
  struct Facts {
    Deadline deadline = Deadline::never();
    Door door = Door::nodes;  // A call within the process comes through none, and is trusted.
    bool may_take_last_stacks = true;  // See CallScope.
    std::string_view peer = {};
    std::string_view peer_identity = {};
    std::string_view authorization = {};
    TraceContext trace = {};
    TimePoint arrived_at{};
    TimePoint begun_at{};  // The epoch: as it arrived.
    const ObjectTarget* object = nullptr;
  };

  // All of them outlive it, and what `facts` name does as well.
  Context(const Method& method, const google::protobuf::Message& request, const Facts& facts)
      : method_(&method), request_(&request), facts_(&facts) {}
  Context(const Method& method, const google::protobuf::Message& request, Facts&& facts) = delete;

  // Until when the caller waits: hand it down to every wait. When it passes, or when the caller
  // gives up or vanishes, the handler's task is cancelled. Calls to other services end some time
  // before it by themselves (call_scope.h).
  Deadline deadline() const { return facts_->deadline; }

  // "package.Service/Method".
  std::string_view method() const;
  const Method& descriptor() const { return *method_; }
  const google::protobuf::Message& request() const { return *request_; }

  // Which door of this node the call came through: `nodes` for the call of a client that another
  // node, or another shard, has sent on. So it says nothing of who asked an object.
  Door door() const { return facts_->door; }
  // "10.1.0.7:52310".
  std::string_view peer() const { return facts_->peer; }
  // By its TLS certificate; empty without.
  std::string_view peer_identity() const { return facts_->peer_identity; }
  // The token that the caller has sent along; empty without. Nobody has checked it but filters.
  std::string_view authorization() const { return facts_->authorization; }
  // The trace of which this call is a part; not valid when there is none.
  const TraceContext& trace() const { return facts_->trace; }

  // The object that is called; null when the caller has named none.
  const ObjectTarget* object() const { return facts_->object; }

  // When it got its task: until then it has waited for its turn.
  TimePoint begun_at() const {
    return facts_->begun_at == TimePoint{} ? facts_->arrived_at : facts_->begun_at;
  }
  // When the request was read; and when the handler had returned, for observers, and for filters
  // that ask behind next(): the clock is read once, whoever asks, and the server counts with it.
  TimePoint arrived_at() const { return facts_->arrived_at; }
  TimePoint returned_at() {
    if (returned_at_ == TimePoint{}) returned_at_ = now();
    return returned_at_;
  }
  // The same, or the epoch when nobody has asked.
  TimePoint returned_at_or_epoch() const { return returned_at_; }

  // Who calls, as the filter of authentication.h has found out; null without one.
  const Principal* principal() const { return principal_; }
  // Lives until the filter that says so returns.
  void set_principal(const Principal* principal) { principal_ = principal; }

 private:
  const Method* method_;
  const google::protobuf::Message* request_;
  const Facts* facts_;
  TimePoint returned_at_{};
  const Principal* principal_ = nullptr;
};

}  // namespace corolane::rpc
