// SPDX-License-Identifier: MIT
#include "rpc/client/detail/client_stream.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/might_suspend.h"
#include "rpc/client/detail/client_connection.h"
#include "rpc/client/detail/client_impl.h"
#include "rpc/stream.h"
#include "rpc/wire/request_extension.h"

namespace corolane::rpc::detail {
ClientStream::ClientStream(Client& client, const Method& method,
                           const google::protobuf::Message& request, CallOptions options)
    : method_(method), readable_(method.full_name), writable_(method.full_name) {
  Client::Impl& impl = *client.impl_;
  deadline_ = Client::Impl::deadline_of(method, options);
  auto opened = impl.with_filters(
      method, request, options, [&](const OutgoingCall& call, std::string_view extension) {
        auto connection = impl.connection(deadline_);
        if (!connection) {
          return Result<void>(std::move(connection.error()).with_not_executed());
        }
        connection_ = *connection;
        auto id = connection_->open_stream(*this, call.method, call.request, deadline_, extension);
        if (!id) return Result<void>(std::move(id.error()));
        id_ = *id;
        return Result<void>();
      });
  if (!opened) end(std::move(opened));
}

ClientStream::~ClientStream() {
  if (connection_ != nullptr) connection_->give_up(id_);
}

bool ClientStream::read(google::protobuf::Message& message) {
  coroutine::might_suspend(deadline_);
  for (;;) {
    if (!inbox_.empty()) return take_item(message);
    if (result_) return false;
    wait(readable_);
  }
}

bool ClientStream::write(const google::protobuf::Message& message) {
  check(!has_finished_writing_, "nothing is written behind the end of a stream");
  coroutine::might_suspend(deadline_);
  while (!result_ && room_bytes_ <= 0) wait(writable_);
  if (result_) return false;
  room_bytes_ -= static_cast<std::int64_t>(message.ByteSizeLong() + frame_header_size);
  auto sent = connection_->send_item(id_, message, deadline_);
  if (sent || result_) return !result_;
  // A message that does not fit a frame is not sent. Other errors mean that the connection breaks,
  // which on_failure() reports, or that this task is cancelled or late.
  give_up(std::move(sent.error()).with_context(method_.full_name));
  return false;
}

void ClientStream::finish_writing() {
  if (std::exchange(has_finished_writing_, true) || connection_ == nullptr) return;
  connection_->end_items(id_);
}

void ClientStream::wait(coroutine::Event& event) {
  const auto waited = event.wait(deadline_);
  if (waited || result_) return;
  const std::string name = method_.full_name;
  give_up(waited.error().code() == Code::deadline_exceeded
              ? Error(Code::deadline_exceeded,
                      "the stream of " + name + " did not end within its deadline")
              : Error(Code::cancelled, "cancelled during the stream of " + name));
}

Result<void> ClientStream::finish() {
  if (!result_ || !inbox_.empty()) {
    give_up(Error(Code::cancelled, std::string("the stream of ") + method_.full_name +
                                       " was abandoned before its end"));
  }
  return *result_;
}

Result<void> ClientStream::finish(google::protobuf::Message& reply) {
  finish_writing();
  coroutine::might_suspend(deadline_);
  while (!result_) wait(readable_);
  if (*result_ && !reply.ParseFromString(reply_)) {
    return Error(Code::internal, "the reply is not a valid " + reply.GetTypeName())
        .with_maybe_executed();
  }
  return *result_;
}

bool ClientStream::take_item(google::protobuf::Message& message) {
  const bool parsed = inbox_.take([&](std::span<const std::byte> item) {
    return message.ParseFromArray(item.data(), static_cast<int>(item.size()));
  });
  if (!parsed) {
    give_up(Error(Code::internal, "an item is not a valid " + message.GetTypeName())
                .with_maybe_executed());
    return false;
  }
  if (const auto room = inbox_.take_grant(); room && connection_ != nullptr) {
    connection_->give_room(id_, *room);
  }
  return true;
}

void ClientStream::on_reply(const Frame& frame) {
  if (frame.header.code != 0) return end(error_of(frame, &reply_headers_));
  if (!frame.extension.empty()) {
    read_reply_extension(net::text_of(frame.extension), &reply_headers_);
  }
  reply_ = text_of(frame);
  end({});
}

void ClientStream::on_failure(const Error& reason) { end(Error(reason).with_maybe_executed()); }

Result<void> ClientStream::on_item(const Frame& frame) {
  if (inbox_.is_overfull()) {
    return Error(Code::resource_exhausted, std::string("the stream of ") + method_.full_name +
                                               " exceeds the window of its reader");
  }
  if (!frame.extension.empty()) {
    read_reply_extension(net::text_of(frame.extension), &reply_headers_);
  }
  inbox_.put(frame.message);
  readable_.pulse();
  return {};
}

void ClientStream::on_window(std::uint32_t bytes) {
  room_bytes_ = std::min(room_bytes_ + std::int64_t{bytes}, stream_window_bytes);
  if (room_bytes_ > 0) writable_.pulse();
}

void ClientStream::end(Result<void> result) {
  connection_ = nullptr;
  if (!result_) result_ = std::move(result);
  readable_.pulse();
  writable_.pulse();
}

void ClientStream::give_up(Error error) {
  if (connection_ != nullptr) std::exchange(connection_, nullptr)->give_up(id_);
  inbox_.clear();
  result_ = std::move(error);
  // One task may read while another writes.
  readable_.pulse();
  writable_.pulse();
}

}  // namespace corolane::rpc::detail

namespace corolane::rpc {

StreamCall::StreamCall(Client& client, const Method& method,
                       const google::protobuf::Message& request, const CallOptions& options)
    : stream_(std::make_unique<detail::ClientStream>(client, method, request, options)) {}

StreamCall::~StreamCall() = default;
StreamCall::StreamCall(StreamCall&&) noexcept = default;
StreamCall& StreamCall::operator=(StreamCall&&) noexcept = default;

bool StreamCall::read(google::protobuf::Message& message) { return stream_->read(message); }

bool StreamCall::write(const google::protobuf::Message& message) { return stream_->write(message); }

void StreamCall::finish_writing() { stream_->finish_writing(); }

Result<void> StreamCall::finish(google::protobuf::Message& reply) { return stream_->finish(reply); }

Result<void> StreamCall::finish() { return stream_->finish(); }

const ReplyHeaders& StreamCall::reply_headers() const { return stream_->reply_headers(); }

}  // namespace corolane::rpc
