// SPDX-License-Identifier: MIT
#include "framework/routing/detail/cross_call.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/call_on.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {

namespace {

// The same delay that a server tells clients whose calls it refuses.
constexpr std::chrono::milliseconds retry_after(100);

}  // namespace

// Keeps the reply for the caller.
class CrossCall::Sink final : public rpc::Messages {
 public:
  Sink(CrossCall& call, const rpc::Context& context) : call_(call), context_(context) {}

  Result<void> reply(google::protobuf::Message& message) override {
    call_.method_.take_reply(message, *call_.reply_);
    call_.has_replied_ = true;
    return {};
  }
  Result<void> write(const google::protobuf::Message& message) override {
    return call_.stream_->write(message, context_.reply_headers_or_null());
  }

 private:
  CrossCall& call_;
  const rpc::Context& context_;
};

CrossCall::CrossCall(const rpc::Method& method, const std::string& id,
                     const google::protobuf::Message& request, const rpc::CallOptions& options,
                     const rpc::Principal* principal, const CallChain::Link* chain,
                     Deadline deadline)
    : method_(method),
      id_(id),
      principal_(principal == nullptr ? rpc::anonymous() : *principal),
      headers_(options.headers == nullptr ? rpc::Headers() : *options.headers),
      caller_(options.request_id.caller),
      scope_(options.request_id.scope),
      trace_(rpc::CallScope::current() == nullptr ? rpc::TraceContext{}
                                                  : rpc::CallScope::current()->trace),
      deadline_(deadline),
      may_take_last_stacks_(rpc::CallScope::current_may_take_last_stacks()),
      // At most length_max: the router has checked it.
      chain_(chain == nullptr ? nullptr : *link_of(calls_of(chain))),
      target_{.id = id_,
              .request_id = {.caller = caller_,
                             .sequence = options.request_id.sequence,
                             .scope = scope_}},
      request_(request.New()) {
  request_->CopyFrom(request);
}

Result<void> CrossCall::run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve,
                            google::protobuf::Message* reply, rpc::ReplyHeaders* reply_headers,
                            std::shared_ptr<CrossStream> stream) {
  serve_ = std::move(serve);
  stream_ = std::move(stream);
  if (reply != nullptr) reply_.reset(method_.new_reply(nullptr));
  auto ran = coroutine::call_on_or_leave(
      there, method_.full_name, [self = shared_from_this()] { return self->serve(); }, deadline_,
      {.task = {.stack_size_bytes = stack_size_bytes_},
       .waited_for = method_.full_name,
       .group = &tasks,
       .may_gather = true,
       .may_take_last_stacks = may_take_last_stacks_});
  // The callee may still run when the caller has given up.
  if (reply_headers != nullptr && has_ended_.load(std::memory_order_acquire)) {
    *reply_headers = std::move(reply_headers_);
  }
  if (ran && reply != nullptr && has_replied_) method_.take_reply(*reply_, *reply);
  if (ran || ran.error().code() != Code::resource_exhausted || !ran.error().not_executed()) {
    return ran;
  }
  return std::move(ran.error()).with_retry_after(std::max(ran.error().retry_after(), retry_after));
}

Result<void> CrossCall::serve() {
  const rpc::Context::Facts facts{.deadline = deadline_,
                                  .principal = &principal_,
                                  .trace = trace_,
                                  .arrived_at = coroutine::Scheduler::current().turn_time(),
                                  .begun_at = coroutine::Scheduler::current().turn_time(),
                                  .object = &target_,
                                  .headers = &headers_};
  rpc::CallScope::enter({.deadline = rpc::CallScope::before(deadline_, facts.arrived_at),
                         .trace = trace_,
                         .may_take_last_stacks = may_take_last_stacks_});
  if (chain_ != nullptr) CallChain::enter(CallChain(chain_));
  rpc::Context context(method_, *request_, facts);
  Sink sink(*this, context);
  auto served = serve_(method_, *request_, context, sink);
  if (context.reply_headers_or_null() != nullptr) {
    reply_headers_ = std::move(context.made_reply_headers());
  }
  has_ended_.store(true, std::memory_order_release);
  return served;
}

}  // namespace corolane::framework::detail
