// A call to an object of another shard of this process: two messages between threads, and no
// serialisation. The request is copied, since a caller that gives up does not wait for the callee;
// the reply is moved.
#pragma once

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/wire/detail/call_chain.h"
#include "rpc/call_options.h"
#include "rpc/context.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

// What both shards know of the call. Each part says whose it is while the call runs.
class CrossCall : public std::enable_shared_from_this<CrossCall> {
 public:
  // Serves it where the object lives: in a task of that shard.
  using Serve = std::function<Result<void>(const google::protobuf::Message& request,
                                           rpc::Context& context, rpc::ReplySink& sink)>;

  // By the caller, in a task.
  CrossCall(const rpc::Method& method, const std::string& id,
            const google::protobuf::Message& request, const rpc::CallOptions& options,
            const CallChain::Link* chain, Deadline deadline);
  CrossCall(const CrossCall&) = delete;
  CrossCall& operator=(const CrossCall&) = delete;

  // Suspends until the callee has ended, the deadline has passed or the task is cancelled; in the
  // latter two cases the callee is cancelled. `reply` may be null. `tasks` are those of the other
  // shard, on whose thread alone they are touched; both outlive the call.
  Result<void> run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve,
                   google::protobuf::Message* reply);
  // The same without waiting for anything.
  void send(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve);

 private:
  class Sink;

  void begin(coroutine::TaskGroup& tasks);
  void serve();
  void end(Result<void> result);
  void cancel(coroutine::Scheduler& there);

  // Written before it is sent.
  const rpc::Method& method_;
  coroutine::Scheduler& home_;
  const std::string id_;
  const std::string authorization_;
  const std::string caller_;
  const std::string scope_;
  const rpc::TraceContext trace_;
  const Deadline deadline_;
  const bool may_take_last_stacks_;               // See CallScope.
  std::shared_ptr<const CallChain::Link> chain_;  // A copy: the links of another shard are its own.
  rpc::ObjectTarget target_;
  std::unique_ptr<google::protobuf::Message> request_;
  Serve serve_;
  // Of the shard that serves.
  coroutine::TaskRef task_;
  bool is_cancelled_ = false;
  // Of that one until it has ended, then of the caller's.
  std::unique_ptr<google::protobuf::Message> reply_;
  Result<void> result_;
  // Of the caller's.
  bool has_ended_ = false;
  coroutine::WaitQueue ended_;
};

}  // namespace corolane::framework::detail
