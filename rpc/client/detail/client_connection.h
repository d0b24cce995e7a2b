// SPDX-License-Identifier: MIT
// One connection of a client, from its hello to its end: sends requests and matches replies to
// calls.
//
// A Client makes one connection after the other; each attempt of a call uses one of them.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "rpc/client/detail/pending_calls.h"
#include "rpc/headers.h"
#include "rpc/service.h"
#include "rpc/wire/detail/connection.h"

namespace corolane::rpc::detail {

class ClientConnection final : public Connection {
 public:
  // The client. Its methods run on the loop's stack.
  class Host {
   public:
    virtual void opened(ClientConnection& connection) = 0;
    // The connection takes no new calls: it is left, as a server asks that shuts down (`reason` is
    // null), or lost.
    virtual void ended(ClientConnection& connection, const Error* reason) = 0;
    // A push, or a gap, has arrived.
    virtual void pushed(ClientConnection& connection, const Frame& frame) = 0;
    // Called last: it is lost, and no task is inside a call. May be destroyed in the next turn.
    virtual void over(ClientConnection& connection) = 0;

   protected:
    ~Host() = default;
  };

  ClientConnection(Host& host, std::unique_ptr<net::Stream> stream, Handshake handshake,
                   const Limits& limits);

  // One attempt at a unary call; `reply_headers` may be null. Suspends until the reply is in
  // `reply`, the deadline has passed, the task is cancelled or the connection is lost; in all but
  // the first case the server is told to cancel the handler. Fails as Client::call() does, before
  // any retry.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, ReplyHeaders* reply_headers,
                    Deadline deadline, const std::string_view& extension);

  // Takes no new calls, tells the server so, and closes when those under way have ended. Never
  // suspends.
  void leave();
  // The session wants no more news of that group. Never suspends.
  void unfollow(std::uint32_t group);

  // Sends the request of a streaming method; `call` receives the items and the end. Suspends while
  // there is no room. An error is marked: not_executed when nothing was sent, else maybe_executed.
  Result<std::uint64_t> open_stream(PendingCall& call, const Method& method,
                                    const google::protobuf::Message& request, Deadline deadline,
                                    std::string_view extension);
  // Sends the next message of the caller's stream, and says that there are no more. The first
  // suspends while there is no room, and fails as Connection::send().
  Result<void> send_item(std::uint64_t id, const google::protobuf::Message& message,
                         Deadline deadline);
  void end_items(std::uint64_t id);
  // The reader has taken `bytes` of items.
  void give_room(std::uint64_t id, std::size_t bytes);
  // Abandons the stream if it has not ended.
  void give_up(std::uint64_t id);

  // Sends the request of a one-way method. Suspends while there is no room. Fails as open_stream().
  Result<void> notify(const Method& method, const google::protobuf::Message& request,
                      Deadline deadline, std::string_view extension);

  // Ends all pending calls and closes. Never suspends.
  void end(const Error& reason);

  bool takes_calls() const { return is_open() && !is_leaving_ && !stream_is_closed(); }
  std::size_t pending_count() const { return pending_.count(); }
  const std::string& peer() const { return peer_; }
  // What the server's hello says of the session; empty without one.
  const std::string& session() { return handshake().given_session(); }
  bool is_resumed() { return handshake().is_resumed(); }
  std::string_view peer_identity() { return stream().peer_identity(); }

 private:
  struct UnaryCall;
  class Inside;

  Result<void> on_open() override;
  void on_pause() override;
  Result<void> on_frame(const Frame& frame) override;
  void on_lost(const Error& reason) override;
  // The error of a call whose reply or item is above our limit.
  Error too_large(const Frame& frame) const;
  void close_when_idle();
  // Reports the end of a lost connection once no task is inside.
  void note_over();
  // True when the stream broke and the loop has not reported it yet.
  bool stream_is_closed() const { return stream_->is_closed(); }
  Result<void> send_request(std::uint64_t id, const Method& method,
                            const google::protobuf::Message& request, Deadline deadline,
                            std::string_view extension);
  void tell_cancelled(std::uint64_t id);

  Host& host_;
  const net::Stream* stream_;
  std::string peer_;
  PendingCalls pending_;
  std::size_t task_count_ = 0;  // Tasks inside its calls.
  bool owes_acknowledgement_ = false;
  std::uint64_t received_push_ = 0;  // The last one over this connection.
  bool is_leaving_ = false;          // One of the two has said go_away.
  bool closes_when_idle_ = false;
  std::optional<Error> lost_;
};

// The error of a reply with a code. Fills `headers`, which may be null.
Error error_of(const Frame& frame, ReplyHeaders* headers);

}  // namespace corolane::rpc::detail
