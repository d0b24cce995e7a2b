// SPDX-License-Identifier: MIT
// Sends the messages of an object's stream on in a task of its own: neither a slow reader nor the
// way to it holds the object's turn.
#pragma once

#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/task_group.h"
#include "framework/wire/detail/message_pipe.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class StreamOutbox {
 public:
  // `out` outlives it.
  StreamOutbox(const rpc::Method& method, rpc::Messages& out)
      : method_(method), out_(out), pipe_(method.full_name) {}
  StreamOutbox(const StreamOutbox&) = delete;
  StreamOutbox& operator=(const StreamOutbox&) = delete;

  // Fails with resource_exhausted when there is no stack.
  Result<void> begin() {
    auto spawned = sender_.spawn(method_.full_name, [this] { sent_ = pipe_.forward_to(out_); });
    return spawned ? Result<void>() : spawned.error();
  }
  // The handler writes here.
  MessagePipe& pipe() { return pipe_; }
  // The handler has ended with `result`. Suspends until all that it wrote is sent. Returns its
  // error, or that of the sender.
  Result<void> finish(Result<void> result, Deadline deadline) {
    pipe_.end();
    const auto ended = sender_.join(deadline);
    if (!result) return result;
    if (!ended) return Error(ended.error()).with_maybe_executed();
    return sent_;
  }

 private:
  const rpc::Method& method_;
  rpc::Messages& out_;
  MessagePipe pipe_;
  Result<void> sent_;
  coroutine::TaskGroup sender_;  // Ends first: it uses the rest.
};

}  // namespace corolane::framework::detail
