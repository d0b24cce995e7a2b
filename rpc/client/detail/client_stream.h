// SPDX-License-Identifier: MIT
// The caller's end of a stream: keeps encoded messages until the reader takes them, and writes when
// the handler has room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "coroutine/sync/event.h"
#include "rpc/client/client.h"
#include "rpc/client/detail/pending_calls.h"
#include "rpc/wire/detail/item_inbox.h"

namespace corolane::rpc::detail {

class ClientConnection;

class ClientStream final : private PendingCall {
 public:
  // The implementation of StreamCall.
  ClientStream(Client& client, const Method& method, const google::protobuf::Message& request,
               CallOptions options);
  ~ClientStream();
  ClientStream(const ClientStream&) = delete;
  ClientStream& operator=(const ClientStream&) = delete;

  bool read(google::protobuf::Message& message);
  bool write(const google::protobuf::Message& message);
  void finish_writing();
  Result<void> finish();
  Result<void> finish(google::protobuf::Message& reply);
  const ReplyHeaders& reply_headers() const { return reply_headers_; }

 private:
  void on_reply(const Frame& frame) override;
  void on_failure(const Error& reason) override;
  Result<void> on_item(const Frame& frame) override;
  void on_window(std::uint32_t bytes) override;
  // Suspends until `event` or the end of the call, which a passed deadline is as well.
  void wait(coroutine::Event& event);
  bool take_item(google::protobuf::Message& message);
  void end(Result<void> result);
  void give_up(Error error);

  const Method& method_;
  Deadline deadline_ = Deadline::never();
  ClientConnection* connection_ = nullptr;  // Null before it is open, and when it has ended.
  std::uint64_t id_ = 0;
  ItemInbox inbox_;
  std::string reply_;  // The one reply of a call with a stream of requests.
  std::int64_t room_bytes_ = stream_window_bytes;  // How much may still be sent.
  bool has_finished_writing_ = false;
  ReplyHeaders reply_headers_;
  std::optional<Result<void>> result_;
  coroutine::Event readable_;
  coroutine::Event writable_;
};

}  // namespace corolane::rpc::detail
