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
// Callers send streams in the same way:
//
//   // The server:
//   Result<Summary> Chess::upload(rpc::Requests<Game>& games, rpc::Context&) {
//     Summary summary;
//     for (Game game; games.read(game);) add(game, summary);
//     if (auto read = games.finish(); !read) return read.error();
//     return summary;
//   }
//
//   // The client:
//   auto games = chess.upload();
//   for (const Game& game : mine) {
//     if (!games.write(game)) break;  // finish() says why.
//   }
//   return games.finish();
//
// A writer may be ahead of its reader by a window of 64 KiB; then it suspends. The handler is
// cancelled when its caller goes away or the deadline passes.
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
  explicit Writer(Messages& sink) : sink_(&sink) {}

  // Suspends while the reader is a window behind. Fails with cancelled when the reader is gone or
  // the deadline of the call has passed: return that error; and with resource_exhausted when the
  // message does not fit a frame.
  Result<void> write(const T& message) { return sink_->write(message); }

 private:
  Messages* sink_;
};

// The messages that a caller sends to a handler.
template <typename T>
class Requests {
 public:
  explicit Requests(Messages& messages) : messages_(&messages) {}

  // Suspends until the next message arrives and puts it into `message`; false when there is none,
  // which finish() explains.
  bool read(T& message) {
    if (!ended_) return false;
    auto has_read = messages_->read(message);
    if (has_read && *has_read) return true;
    ended_ = has_read ? Result<void>(Error(Code::out_of_range, "")) : has_read.error();
    return false;
  }

  // Whether the caller has ended its stream. An error is for the handler to return: the caller is
  // gone, the deadline has passed, or a message was malformed.
  Result<void> finish() const {
    const bool is_at_end = ended_ || ended_.error().code() == Code::out_of_range;
    return is_at_end ? Result<void>() : ended_;
  }

 private:
  Messages* messages_;
  Result<void> ended_;  // An error once read() has returned false; out_of_range at the end.
};

// The caller's end of a stream in either direction, for any message types; move-only.
class StreamCall {
 public:
  // Suspends while there is no connection or no room on it. finish() reports errors. The request of
  // a method that is called with a stream is empty.
  StreamCall(Client& client, const Method& method, const google::protobuf::Message& request,
             const CallOptions& options);
  // Abandons a stream that has not ended: its handler is cancelled.
  ~StreamCall();
  StreamCall(StreamCall&&) noexcept;
  StreamCall& operator=(StreamCall&&) noexcept;

  bool read(google::protobuf::Message& message);
  bool write(const google::protobuf::Message& message);
  void finish_writing();
  Result<void> finish();
  // Suspends until the one reply is there.
  Result<void> finish(google::protobuf::Message& reply);
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

// A call with a stream of messages and one reply.
template <typename Request, typename Reply>
class Upload {
 public:
  // `client` outlives it.
  Upload(Client& client, const Method& method, const CallOptions& options)
      : call_(client, method, Request(), options) {}

  // Suspends while the handler is a window behind. False when the call has ended: finish() has its
  // reply or its error.
  bool write(const Request& message) { return call_.write(message); }

  // Says that no more messages come, and suspends until the reply is there. Fails as
  // Client::call().
  Result<Reply> finish() {
    Reply reply;
    if (auto finished = call_.finish(reply); !finished) return finished.error();
    return reply;
  }
  const ReplyHeaders& reply_headers() const { return call_.reply_headers(); }

 private:
  StreamCall call_;
};

// A call with a stream in each direction, which do not wait for each other. One task may read while
// another writes.
template <typename Request, typename Reply>
class Duplex {
 public:
  // `client` outlives it.
  Duplex(Client& client, const Method& method, const CallOptions& options)
      : call_(client, method, Request(), options) {}

  bool write(const Request& message) { return call_.write(message); }
  // Says that no more messages come; replies are still read.
  void finish_writing() { call_.finish_writing(); }
  // These do what Reader::read() and Reader::finish() do.
  bool read(Reply& message) { return call_.read(message); }
  Result<void> finish() { return call_.finish(); }
  const ReplyHeaders& reply_headers() const { return call_.reply_headers(); }

 private:
  StreamCall call_;
};

}  // namespace corolane::rpc
