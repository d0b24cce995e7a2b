// SPDX-License-Identifier: MIT
// A stream of messages from an object, wherever it lives: what typed clients return for methods
// that reply with a stream.
//
//   auto moves = GameClient(router, "g1").replay(request);
//   for (Move move; moves.read(move);) show(move);
//   return moves.finish();
//
// The object's handler may be ahead of the reader by 16 KiB on its own shard, by as much on each
// shard that the stream passes, and by 64 KiB on each connection. Then it gives its turn away until
// there is room: after a write() other calls may have changed the state.
//
// A stream has a task on the caller's shard, and is read by the task that made it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "coroutine/base/result.h"
#include "rpc/call_options.h"
#include "rpc/headers.h"
#include "rpc/service.h"

namespace corolane::framework {

class Router;

// The reader's end, for any message type; move-only.
class ObjectStream {
 public:
  // Never suspends. `router` outlives it.
  ObjectStream(Router& router, const rpc::Method& method, const std::string& id,
               const google::protobuf::Message& request, const rpc::CallOptions& options);
  // Abandons a stream that has not ended, and suspends until its task has.
  ~ObjectStream();
  ObjectStream(ObjectStream&&) noexcept;
  ObjectStream& operator=(ObjectStream&&) noexcept;

  // Null when the stream has ended.
  std::unique_ptr<google::protobuf::Message> read();
  Result<void> finish();
  const rpc::ReplyHeaders& reply_headers() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
};

template <typename T>
class ObjectReader {
 public:
  // `router` outlives it.
  ObjectReader(Router& router, const rpc::Method& method, const std::string& id,
               const google::protobuf::Message& request, const rpc::CallOptions& options)
      : stream_(router, method, id, request, options) {}

  // Suspends until the next message arrives and puts it into `message`; false when the stream has
  // ended, which finish() explains.
  bool read(T& message) {
    const auto next = stream_.read();
    if (next != nullptr) message = std::move(static_cast<T&>(*next));
    return next != nullptr;
  }

  // How the stream ended: with the handler's own error or the runtime's, as Router::stream() does.
  // A stream that has not ended is abandoned, and the result is `cancelled`.
  Result<void> finish() { return stream_.finish(); }

  // The headers that the handler has set; there when the stream has ended.
  const rpc::ReplyHeaders& reply_headers() const { return stream_.reply_headers(); }

 private:
  ObjectStream stream_;
};

}  // namespace corolane::framework
