// SPDX-License-Identifier: MIT
// A call to an object of another shard of this process: two messages between threads, without
// serialisation. The request is copied, because a caller that gives up does not wait for the
// callee; the reply is moved.
#pragma once

#include <google/protobuf/message.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/base/thread_cache.h"
#include "coroutine/scheduler.h"
#include "coroutine/task_group.h"
#include "framework/routing/detail/cross_stream.h"
#include "framework/wire/detail/call_chain.h"
#include "rpc/call_options.h"
#include "rpc/context.h"
#include "rpc/headers.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

// The state that both shards share. A comment names the owner of each part while the call runs.
class CrossCall : public std::enable_shared_from_this<CrossCall> {
 public:
  // Serves the call in a task of the object's shard. Two words fit into it without allocation.
  using Serve = std::function<Result<void>(const rpc::Method& method,
                                           const google::protobuf::Message& request,
                                           rpc::Context& context, rpc::Messages& sink)>;

  // By the caller, in a task. `arguments` are those of the constructor.
  template <typename... Arguments>
  static std::shared_ptr<CrossCall> make(Arguments&&... arguments) {
    return std::allocate_shared<CrossCall>(ThreadCached<CrossCall>(),
                                           std::forward<Arguments>(arguments)...);
  }
  CrossCall(const rpc::Method& method, const std::string& id,
            const google::protobuf::Message& request, const rpc::CallOptions& options,
            const rpc::Principal* principal, const CallChain::Link* chain, Deadline deadline);
  CrossCall(const CrossCall&) = delete;
  CrossCall& operator=(const CrossCall&) = delete;

  // The call comes from another node, which assumes an owner with these epochs.
  void come_from_node(std::uint64_t node_epoch, std::uint64_t partition_epoch) {
    target_.node_epoch = node_epoch;
    target_.partition_epoch = partition_epoch;
  }

  // The handler runs on a stack of that size; unset: as its method says.
  void take_stack_of(std::size_t size_bytes) { stack_size_bytes_ = size_bytes; }

  // Suspends until the callee has ended, the deadline has passed or the task is cancelled; in the
  // latter two cases the callee is cancelled. `reply` and `reply_headers` may be null. `tasks`
  // belongs to the other shard and is touched on its thread only; both outlive the call. `stream`
  // takes the messages of a method that replies with a stream; null for any other.
  Result<void> run(coroutine::Scheduler& there, coroutine::TaskGroup& tasks, Serve serve,
                   google::protobuf::Message* reply, rpc::ReplyHeaders* reply_headers,
                   std::shared_ptr<CrossStream> stream);

 private:
  class Sink;

  Result<void> serve();

  // Constant once the call is sent.
  const rpc::Method& method_;
  const std::string id_;
  const rpc::Principal principal_;
  const rpc::Headers headers_;
  const std::string caller_;
  const std::string scope_;
  const rpc::TraceContext trace_;
  const Deadline deadline_;
  std::size_t stack_size_bytes_ = method_.stack_size_bytes;
  const bool may_take_last_stacks_;               // See CallScope.
  std::shared_ptr<const CallChain::Link> chain_;  // A copy: links belong to one shard.
  rpc::ObjectTarget target_;
  std::unique_ptr<google::protobuf::Message> request_;
  Serve serve_;
  std::shared_ptr<CrossStream> stream_;
  // Owned by the serving shard until the call has ended, then by the caller's. The caller makes the
  // reply, and destroys it: memory that goes to another thread and stays there is slower.
  std::unique_ptr<google::protobuf::Message> reply_;  // Null unless the method replies once.
  bool has_replied_ = false;
  rpc::ReplyHeaders reply_headers_;
  std::atomic<bool> has_ended_ = false;  // The callee, which sets nothing more.
};

}  // namespace corolane::framework::detail
