// SPDX-License-Identifier: MIT
// The reading end of a stream: keeps encoded messages until the reader takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "coroutine/sync/event.h"
#include "rpc/client/client.h"
#include "rpc/client/detail/pending_calls.h"

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
  Result<void> finish();
  const ReplyHeaders& reply_headers() const { return reply_headers_; }

 private:
  void on_reply(const Frame& frame) override;
  void on_failure(const Error& reason) override;
  Result<void> on_item(const Frame& frame) override;
  bool take_item(google::protobuf::Message& message);
  void end(Result<void> result);
  void give_up(Error error);

  const Method& method_;
  Deadline deadline_ = Deadline::never();
  ClientConnection* connection_ = nullptr;  // Null before it is open, and when it has ended.
  std::uint64_t id_ = 0;
  // Items from `begin_` on, each after its size: at most a window and one item.
  std::vector<std::byte> inbox_;
  std::size_t begin_ = 0;
  std::size_t taken_bytes_ = 0;  // Taken of the window since the last window frame.
  ReplyHeaders reply_headers_;
  std::optional<Result<void>> result_;
  coroutine::Event readable_;
};

}  // namespace corolane::rpc::detail
