// SPDX-License-Identifier: MIT
// Carries the stream of an object on another shard of this process to its caller's shard: a message
// between threads for each of the stream, and one back for each half window that the caller has
// taken.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "coroutine/base/result.h"
#include "coroutine/scheduler.h"
#include "coroutine/sync/event.h"
#include "framework/wire/detail/message_pipe.h"
#include "rpc/headers.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

// The state that both shards share. A comment names the owner of each part.
class CrossStream : public std::enable_shared_from_this<CrossStream> {
 public:
  // Constructed on the caller's shard; `there` is that of the object. `reply_headers`, unless it is
  // null, is used until end(), and set before the first message is written on.
  CrossStream(const char* name, coroutine::Scheduler& there, rpc::ReplyHeaders* reply_headers)
      : home_(coroutine::Scheduler::current()),
        there_(there),
        reply_headers_(reply_headers),
        pipe_(name),
        room_(name) {}
  CrossStream(const CrossStream&) = delete;
  CrossStream& operator=(const CrossStream&) = delete;

  // On the caller's shard: suspends until end(), and writes all messages to `out`. Fails as it
  // does; then the writer fails, too.
  Result<void> forward_to(rpc::Messages& out);
  // On the caller's shard, once the writer has ended, or was left.
  void end() {
    is_over_ = true;
    pipe_.end();
  }

  // On the object's shard. Suspends while the caller's is a window behind; fails when it has left.
  // `reply_headers` are those of the stream so far; null when there are none.
  Result<void> write(const google::protobuf::Message& message,
                     const rpc::ReplyHeaders* reply_headers);

 private:
  // Constant.
  coroutine::Scheduler& home_;
  coroutine::Scheduler& there_;
  // Owned by the caller's shard.
  rpc::ReplyHeaders* const reply_headers_;
  MessagePipe pipe_;
  std::size_t taken_bytes_ = 0;  // The writer does not know of them yet.
  bool is_over_ = false;         // Later messages are dropped.
  // Owned by the object's shard.
  std::size_t sent_bytes_ = 0;  // Not known to be taken.
  bool has_sent_headers_ = false;
  std::optional<Error> left_;
  coroutine::Event room_;
};

}  // namespace corolane::framework::detail
