// SPDX-License-Identifier: MIT
#include "framework/routing/detail/cross_call.h"

#include <chrono>
#include <utility>

#include "coroutine/task.h"
#include "rpc/call_scope.h"

namespace corolane::framework::detail {

using coroutine::Wake;

namespace {

// The same delay that a server tells clients whose calls it refuses.
constexpr std::chrono::milliseconds retry_after(100);

}  // namespace

// Keeps the reply for the caller.
class CrossCall::Sink final : public rpc::ReplySink {
 public:
  explicit Sink(CrossCall& call) : call_(call) {}

  Result<void> reply(google::protobuf::Message& message) override {
    call_.reply_.reset(call_.method_.new_reply(nullptr));
    call_.method_.take_reply(message, *call_.reply_);
    return {};
  }
  Result<void> write(const google::protobuf::Message&) override {
    return Error(Code::unimplemented, "objects reply once");
  }

 private:
  CrossCall& call_;
};

CrossCall::CrossCall(const rpc::Method& method, const std::string& id,
                     const google::protobuf::Message& request, const rpc::CallOptions& options,
                     const CallChain::Link* chain, Deadline deadline)
    : method_(method),
      home_(coroutine::Scheduler::current()),
      id_(id),
      authorization_(options.authorization),
      caller_(options.request_id.caller),
      scope_(options.request_id.scope),
      trace_(rpc::CallScope::current() == nullptr ? rpc::TraceContext{}
                                                  : rpc::CallScope::current()->trace),
      deadline_(deadline),
      may_take_last_stacks_(rpc::CallScope::current_may_take_last_stacks()),
      chain_(*link_of(calls_of(chain))),  // At most length_max: the router has checked it.
      target_{.id = id_,
              .request_id = {.caller = caller_,
                             .sequence = options.request_id.sequence,
                             .scope = scope_}},
      request_(request.New()),
      ended_(method.full_name) {
  request_->CopyFrom(request);
}

Result<void> CrossCall::run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve,
                            google::protobuf::Message* reply) {
  send(there, tasks, std::move(serve));
  const Wake wake = has_ended_ ? Wake::notified : ended_.wait(deadline_);
  if (has_ended_) {
    if (result_ && reply != nullptr && reply_ != nullptr) method_.take_reply(*reply_, *reply);
    return std::move(result_);
  }
  cancel(there);
  if (wake == Wake::deadline) {
    return Error(Code::deadline_exceeded,
                 std::string(method_.full_name) + " did not end within its deadline")
        .with_maybe_executed();
  }
  return Error(Code::cancelled, std::string("cancelled while waiting for ") + method_.full_name)
      .with_maybe_executed();
}

void CrossCall::send(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve) {
  serve_ = std::move(serve);
  there.post([self = shared_from_this(), &tasks] { self->begin(tasks); });
}

void CrossCall::begin(coroutine::TaskGroup& tasks) {
  if (is_cancelled_) return;
  if (!may_take_last_stacks_ && coroutine::Scheduler::current().stacks().is_scarce()) {
    return end(Error(Code::resource_exhausted, "the last stacks are for addresses that hold few")
                   .with_retry_after(retry_after)
                   .with_not_executed());
  }
  auto spawned = tasks.spawn(method_.full_name, [self = shared_from_this()] { self->serve(); },
                             {.stack_size_bytes = method_.stack_size_bytes});
  if (!spawned) return end(std::move(spawned.error()).with_context("no stack").with_not_executed());
  task_ = *spawned;
}

void CrossCall::serve() {
  const rpc::Context::Facts facts{.deadline = deadline_,
                                  .authorization = authorization_,
                                  .trace = trace_,
                                  .arrived_at = coroutine::Scheduler::current().turn_time(),
                                  .object = &target_};
  rpc::CallScope::enter({.deadline = rpc::CallScope::before(deadline_, facts.arrived_at),
                         .trace = trace_,
                         .may_take_last_stacks = may_take_last_stacks_});
  if (chain_ != nullptr) CallChain::enter(CallChain(chain_));
  rpc::Context context(method_, *request_, facts);
  Sink sink(*this);
  auto result = serve_(*request_, context, sink);
  task_ = {};
  end(std::move(result));
}

void CrossCall::end(Result<void> result) {
  result_ = std::move(result);
  home_.post([self = shared_from_this()] {
    self->has_ended_ = true;
    self->ended_.notify_all();
  });
}

void CrossCall::cancel(coroutine::Scheduler& there) {
  there.post([self = shared_from_this()] {
    self->is_cancelled_ = true;
    if (self->task_) self->task_.cancel();
  });
}

}  // namespace corolane::framework::detail
