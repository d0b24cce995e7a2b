// One connection of a client, from its hello to its end: requests go out, replies find their calls.
//
// A Client makes one after the other; each call is tried on one of them.
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
#include "rpc/service.h"
#include "rpc/wire/detail/connection.h"

namespace corolane::rpc::detail {

class ClientConnection final : public Connection {
 public:
  // Its client. All on the loop's stack.
  class Host {
   public:
    virtual void opened(ClientConnection& connection) = 0;
    // It takes no new calls any more: the server is to end (then `reason` is null) or it is lost.
    virtual void ended(ClientConnection& connection, const Error* reason) = 0;

   protected:
    ~Host() = default;
  };

  ClientConnection(Host& host, std::unique_ptr<net::Stream> stream, Handshake handshake,
                   const Limits& limits);

  // One attempt at a unary call. Suspends until the reply is in `reply`, the deadline has passed,
  // the task is cancelled or the connection is lost; in all but the first case the server is told
  // to cancel the handler. Errors as Client::call() has them, before any retry.
  Result<void> call(const Method& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, Deadline deadline,
                    std::string_view extension);

  // Sends the request of a streaming method; `call` hears of what comes. Suspends for room.
  Result<std::uint64_t> open_stream(PendingCall& call, const Method& method,
                                    const google::protobuf::Message& request, Deadline deadline,
                                    std::string_view extension);
  // The reader has taken so many bytes of items.
  void give_room(std::uint64_t id, std::size_t bytes);
  // The stream is of no interest any more, if it has not ended.
  void give_up(std::uint64_t id);

  // Sends the request of a one-way method. Suspends for room.
  Result<void> notify(const Method& method, const google::protobuf::Message& request,
                      Deadline deadline, std::string_view extension);

  // Ends all pending calls and closes. Never suspends.
  void end(const Error& reason);

  bool takes_calls() const { return is_open() && !is_leaving_ && !stream_is_closed(); }
  // Nothing is left to come, and no task is inside a call: it may be destroyed.
  bool is_over() const { return lost_ && task_count_ == 0; }
  std::size_t pending_count() const { return pending_.count(); }
  const std::string& peer() const { return peer_; }
  std::string_view peer_identity() { return stream().peer_identity(); }

 private:
  struct UnaryCall;
  class Inside;

  Result<void> on_open() override;
  Result<void> on_frame(const Frame& frame) override;
  void on_lost(const Error& reason) override;
  void start_leaving();
  void close_when_idle();
  // It broke, and the turn of the loop that tells so has not come yet.
  bool stream_is_closed() const { return stream_->is_closed(); }
  Result<void> send_request(std::uint64_t id, const Method& method,
                            const google::protobuf::Message& request, Deadline deadline,
                            std::string_view extension);
  void tell_cancelled(std::uint64_t id);

  Host& host_;
  const net::Stream* stream_;
  std::string peer_;
  PendingCalls pending_;
  std::size_t task_count_ = 0;  // Inside its calls, and streams that are read.
  bool is_leaving_ = false;     // The server has said go_away.
  bool closes_when_idle_ = false;
  std::optional<Error> lost_;
};

// What a reply with a code says.
Error error_of(const Frame& frame);

}  // namespace corolane::rpc::detail
