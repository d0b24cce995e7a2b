// SPDX-License-Identifier: MIT
// Methods that answer with a stream of messages, written and read as linear code.
//
//   // The server:
//   Result<void> Chess::watch(const WatchRequest& request, rpc::Writer<Event>& events,
//                             rpc::Context&) {
//     for (const Event& event : history(request.game())) {
//       if (auto written = events.write(event); !written) return written;
//     }
//     return {};
//   }
//
//   // The client:
//   auto events = chess.watch(request);  // The method's timeout bounds it.
//   for (Event event; events.read(event);) show(event);
//   return events.finish();
//
// The writer may be ahead of the reader by a window of 64 KiB; then it suspends. The handler is
// cancelled when its reader goes away or the deadline passes.
#pragma once

#include <google/protobuf/message.h>

#include <memory>

#include "coroutine/base/result.h"
#include "rpc/call_options.h"
#include "rpc/headers.h"
#include "rpc/service.h"

namespace corolane::rpc {

class Client;
namespace detail {
class ClientStream;
}

template <typename T>
class Writer {
 public:
  explicit Writer(ReplySink& sink) : sink_(&sink) {}

  // Suspends while the reader is a window behind. Fails with cancelled when the reader is gone or
  // the deadline of the call has passed: return that error; and with resource_exhausted when the
  // message does not fit a frame.
  Result<void> write(const T& message) { return sink_->write(message); }

 private:
  ReplySink* sink_;
};

// A Reader of any message type; move-only.
class StreamCall {
 public:
  // Suspends while there is no connection or no room on it. finish() reports errors.
  StreamCall(Client& client, const Method& method, const google::protobuf::Message& request,
             const CallOptions& options);
  // Abandons a stream that has not ended: its handler is cancelled.
  ~StreamCall();
  StreamCall(StreamCall&&) noexcept;
  StreamCall& operator=(StreamCall&&) noexcept;

  bool read(google::protobuf::Message& message);
  Result<void> finish();
  const ReplyHeaders& reply_headers() const;

 private:
  std::unique_ptr<detail::ClientStream> stream_;
};

template <typename T>
class Reader {
 public:
  // `client` outlives the reader.
  Reader(Client& client, const Method& method, const google::protobuf::Message& request,
         const CallOptions& options)
      : call_(client, method, request, options) {}

  // Suspends until the next message arrives and puts it into `message`; false when the stream has
  // ended, which finish() explains.
  bool read(T& message) { return call_.read(message); }

  // How the stream ended: with the handler's own error or the runtime's, as Client::call() does. A
  // stream that has not ended is abandoned, and the result is `cancelled`. Never suspends.
  Result<void> finish() { return call_.finish(); }

  // Its headers are there with the first message, its trailers when the stream has ended.
  const ReplyHeaders& reply_headers() const { return call_.reply_headers(); }

 private:
  StreamCall call_;
};

}  // namespace corolane::rpc
