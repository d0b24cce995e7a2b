// SPDX-License-Identifier: MIT
#include "framework/wire/detail/message_pipe.h"

#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "rpc/wire/frame.h"

namespace corolane::framework::detail {

std::size_t MessagePipe::size_of(const google::protobuf::Message& message) {
  return message.ByteSizeLong() + rpc::frame_header_size;
}

Result<void> MessagePipe::write(const google::protobuf::Message& message) {
  while (!has_room()) {
    if (auto waited = room_.wait(Deadline::never()); !waited) return waited;
  }
  Message copy(message.New());
  copy->CopyFrom(message);
  return put(std::move(copy));
}

Result<void> MessagePipe::reply(google::protobuf::Message&) {
  return Error(Code::internal, std::string(name_) + " replies with a stream");
}

Result<void> MessagePipe::put(Message message) {
  check(!has_ended_, "nothing is written behind the end of a stream");
  if (left_) return *left_;
  waiting_bytes_ += size_of(*message);
  waiting_.push_back(std::move(message));
  arrived_.pulse();
  return {};
}

void MessagePipe::end() {
  has_ended_ = true;
  arrived_.pulse();
}

Result<MessagePipe::Message> MessagePipe::take() {
  while (waiting_.empty()) {
    if (has_ended_) return Message();
    if (auto waited = arrived_.wait(Deadline::never()); !waited) return waited.error();
  }
  Message first = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= size_of(*first);
  if (has_room()) room_.pulse();
  return first;
}

Result<void> MessagePipe::forward_to(rpc::Messages& out) {
  return forward_to(out, [](std::size_t) {});
}

Result<void> MessagePipe::forward_to(rpc::Messages& out,
                                     const std::function<void(std::size_t)>& forwarded) {
  for (;;) {
    auto message = take();
    if (message && *message == nullptr) return {};
    auto written = message ? out.write(**message) : Result<void>(message.error());
    if (!written) {
      leave(written.error());
      return written;
    }
    forwarded(size_of(**message));
  }
}

void MessagePipe::leave(const Error& reason) {
  left_ = reason;
  waiting_.clear();
  waiting_bytes_ = 0;
  room_.pulse();
}

}  // namespace corolane::framework::detail
