// SPDX-License-Identifier: MIT
// Carries the messages of a stream from one task to another of the same thread, in order.
//
//   MessagePipe pipe(method.full_name);
//   auto sender = spawn("send", [&] { return pipe.forward_to(out); });
//   for (const Entry& entry : entries) static_cast<void>(pipe.write(entry));
//   pipe.end();
//   return sender.join(deadline);
//
// The writer may be ahead of the reader by a window: a quarter of a connection's, since a stream
// may pass several, and a client may leave many unread.
#pragma once

#include <google/protobuf/message.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "rpc/service.h"

namespace corolane::framework::detail {

class MessagePipe final : public rpc::Messages {
 public:
  using Message = std::unique_ptr<google::protobuf::Message>;

  // `name`, of the method, outlives the pipe.
  explicit MessagePipe(const char* name) : name_(name), room_(name), arrived_(name) {}
  MessagePipe(const MessagePipe&) = delete;
  MessagePipe& operator=(const MessagePipe&) = delete;

  // Copies the message. Suspends while the reader is a window behind. Fails with cancelled, and
  // with the reader's error when it has left.
  Result<void> write(const google::protobuf::Message& message) override;
  Result<void> reply(google::protobuf::Message& message) override;
  // The same in two parts, for a writer that holds something while it waits: put() does not
  // suspend, and is called only when there is room. `room` is pulsed when there is again.
  bool has_room() const { return waiting_bytes_ < window_bytes || left_; }
  coroutine::Event& room() { return room_; }
  Result<void> put(Message message);
  // Nothing more is written.
  void end();

  bool is_empty() const { return waiting_.empty(); }
  // Suspends until there is a message; null at the end. Fails with cancelled.
  Result<Message> take();
  // Writes all messages to `out`, until the end. Fails as out.write() and take() do; then the
  // reader has left.
  Result<void> forward_to(rpc::Messages& out);
  // The same, and calls `forwarded` with the size of each message that was written.
  Result<void> forward_to(rpc::Messages& out, const std::function<void(std::size_t)>& forwarded);
  // The reader takes nothing more: the writer fails with this error.
  void leave(const Error& reason);

  // The part of a window that a message takes.
  static std::size_t size_of(const google::protobuf::Message& message);
  static constexpr std::size_t window_bytes = std::size_t{16} * 1024;

 private:
  const char* const name_;
  std::deque<Message> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool has_ended_ = false;
  std::optional<Error> left_;
  coroutine::Event room_;
  coroutine::Event arrived_;
};

}  // namespace corolane::framework::detail
