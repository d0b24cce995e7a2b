// SPDX-License-Identifier: MIT
#include "framework/routing/detail/cross_stream.h"

#include <utility>

namespace corolane::framework::detail {

Result<void> CrossStream::forward_to(rpc::Messages& out) {
  auto forwarded = pipe_.forward_to(out, [this](std::size_t bytes) {
    taken_bytes_ += bytes;
    if (taken_bytes_ < MessagePipe::window_bytes / 2) return;
    there_.post([self = shared_from_this(), taken = std::exchange(taken_bytes_, 0)] {
      self->sent_bytes_ -= taken;
      self->room_.pulse();
    });
  });
  if (forwarded) return forwarded;
  there_.post([self = shared_from_this(), reason = forwarded.error()] {
    self->left_ = reason;
    self->room_.pulse();
  });
  return forwarded;
}

Result<void> CrossStream::write(const google::protobuf::Message& message,
                                const rpc::ReplyHeaders* reply_headers) {
  while (sent_bytes_ >= MessagePipe::window_bytes && !left_) {
    if (auto waited = room_.wait(Deadline::never()); !waited) return waited;
  }
  if (left_) return *left_;
  if (!std::exchange(has_sent_headers_, true) && reply_headers != nullptr) {
    home_.post([self = shared_from_this(), sent = *reply_headers]() mutable {
      if (!self->is_over_ && self->reply_headers_ != nullptr) {
        *self->reply_headers_ = std::move(sent);
      }
    });
  }
  MessagePipe::Message copy(message.New());
  copy->CopyFrom(message);
  sent_bytes_ += MessagePipe::size_of(message);
  home_.post([self = shared_from_this(), copy = std::move(copy)]() mutable {
    // A reader that has left has said so already.
    if (!self->is_over_) static_cast<void>(self->pipe_.put(std::move(copy)));
  });
  return {};
}

}  // namespace corolane::framework::detail
