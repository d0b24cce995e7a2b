// SPDX-License-Identifier: MIT
// The call that a handler serves, as the handler sees it.
//
//   Result<MoveReply> Chess::move(const MoveRequest& request, rpc::Context& context) {
//     if (auto turn = wait_for_turn(request, context.deadline()); !turn) return turn.error();
//     log.info("moved", {{"player", context.principal().id}, {"peer", context.peer()}});
//     return play(request);
//   }
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string_view>

#include "coroutine/base/clock.h"
#include "coroutine/base/deadline.h"
#include "rpc/headers.h"
#include "rpc/object_target.h"
#include "rpc/options.h"
#include "rpc/principal.h"
#include "rpc/trace_context.h"

namespace corolane::rpc {

class Session;

struct Method;

class Context {
 public:
  struct Facts {
    Deadline deadline = Deadline::never();
    Door door = Door::nodes;           // An in-process call has no door, and is trusted.
    bool may_take_last_stacks = true;  // See CallScope.
    std::string_view peer = {};
    std::string_view peer_identity = {};
    const Principal* principal = nullptr;  // Null: anonymous.
    const std::shared_ptr<Session>* session = nullptr;
    TraceContext trace = {};
    TimePoint arrived_at{};
    TimePoint begun_at{};  // The epoch: equal to arrived_at.
    const ObjectTarget* object = nullptr;
    const Headers* headers = nullptr;  // Null: the caller has sent none.
  };

  // All arguments outlive the context, and so does everything that `facts` refers to.
  Context(const Method& method, const google::protobuf::Message& request, const Facts& facts)
      : method_(&method), request_(&request), facts_(&facts) {}
  Context(const Method& method, const google::protobuf::Message& request, Facts&& facts) = delete;

  // The caller's deadline: pass it to every wait. When it passes, or when the caller gives up or
  // vanishes, the handler's task is cancelled. Calls to other services end a little before it by
  // themselves (call_scope.h).
  Deadline deadline() const { return facts_->deadline; }

  // "package.Service/Method".
  std::string_view method() const;
  const Method& descriptor() const { return *method_; }
  const google::protobuf::Message& request() const { return *request_; }

  // The door of this node that the call came through: `nodes` for a client's call that another node
  // or shard has forwarded. So it does not say who called an object.
  Door door() const { return facts_->door; }
  // "10.1.0.7:52310".
  std::string_view peer() const { return facts_->peer; }
  // The peer's identity by its TLS certificate; empty without one.
  std::string_view peer_identity() const { return facts_->peer_identity; }
  // The caller, as the login of the connection has found it (principal.h); anonymous without one. A
  // call that another node forwards has the principal of the client that it comes from.
  const Principal& principal() const {
    return facts_->principal == nullptr ? anonymous() : *facts_->principal;
  }
  // The session of the client (session.h), which may be kept beyond the call; null for a client
  // without one, and for a call that another node forwards.
  std::shared_ptr<Session> session() const {
    return facts_->session == nullptr ? nullptr : *facts_->session;
  }
  // The trace that this call belongs to; invalid when there is none.
  const TraceContext& trace() const { return facts_->trace; }

  // The headers that the caller has sent.
  const Headers& headers() const {
    static const Headers none;
    return facts_->headers == nullptr ? none : *facts_->headers;
  }
  // The headers and trailers that the caller gets. Those of a stream are sent with its first
  // message, and later changes to them are lost; all others are sent when the filters have ended.
  Headers& reply_headers() { return made_reply_headers().headers; }
  Headers& reply_trailers() { return made_reply_headers().trailers; }
  // Both; null when there are none.
  const ReplyHeaders* reply_headers_or_null() const { return reply_headers_.get(); }
  ReplyHeaders& made_reply_headers() {
    if (reply_headers_ == nullptr) reply_headers_ = std::make_unique<ReplyHeaders>();
    return *reply_headers_;
  }
  // The handler's reply, for filters after next(); null after an error, and for calls without
  // exactly one reply.
  const google::protobuf::Message* reply() const { return reply_; }
  void set_reply(const google::protobuf::Message* reply) { reply_ = reply; }

  // The object that is called; null when the caller has not named one.
  const ObjectTarget* object() const { return facts_->object; }

  // When the call got its task, or the turn of its object; before that it waited.
  TimePoint begun_at() const {
    if (begun_late_at_ != TimePoint{}) return begun_late_at_;
    return facts_->begun_at == TimePoint{} ? facts_->arrived_at : facts_->begun_at;
  }
  void set_begun_at(TimePoint time) { begun_late_at_ = time; }
  // Whether it runs in a task of its own, and not within that of its caller.
  bool has_own_task() const { return facts_->begun_at != TimePoint{}; }
  // When the request was read, and when the handler returned. The latter is for observers, and for
  // filters after next(): the first caller reads the clock, and the server's statistics use the
  // same reading.
  TimePoint arrived_at() const { return facts_->arrived_at; }
  TimePoint returned_at() {
    if (returned_at_ == TimePoint{}) returned_at_ = now();
    return returned_at_;
  }
  // The same without reading the clock: the epoch if returned_at() was never called.
  TimePoint returned_at_or_epoch() const { return returned_at_; }
  TimePoint begun_late_at_{};  // Set after a wait.

 private:
  const Method* method_;
  const google::protobuf::Message* request_;
  const Facts* facts_;
  TimePoint returned_at_{};
  std::unique_ptr<ReplyHeaders> reply_headers_;
  const google::protobuf::Message* reply_ = nullptr;
};

}  // namespace corolane::rpc
