// SPDX-License-Identifier: MIT
#include "rpc/client/detail/client_stream.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "coroutine/might_suspend.h"
#include "rpc/client/detail/client_connection.h"
#include "rpc/client/detail/client_impl.h"
#include "rpc/stream.h"
#include "rpc/wire/request_extension.h"

namespace corolane::rpc::detail {
namespace {

using ItemSize = std::uint32_t;

}  // namespace

ClientStream::ClientStream(Client& client, const Method& method,
                           const google::protobuf::Message& request, CallOptions options)
    : method_(method), readable_(method.full_name) {
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
    if (begin_ < inbox_.size()) return take_item(message);
    if (result_) return false;
    const auto waited = readable_.wait(deadline_);
    if (waited) continue;
    const std::string name = method_.full_name;
    give_up(waited.error().code() == Code::deadline_exceeded
                ? Error(Code::deadline_exceeded,
                        "the stream of " + name + " did not end within its deadline")
                : Error(Code::cancelled, "cancelled while reading the stream of " + name));
  }
}

Result<void> ClientStream::finish() {
  if (!result_ || begin_ < inbox_.size()) {
    give_up(Error(Code::cancelled, std::string("the stream of ") + method_.full_name +
                                       " was abandoned before its end"));
  }
  return *result_;
}

bool ClientStream::take_item(google::protobuf::Message& message) {
  ItemSize size = 0;
  std::memcpy(&size, inbox_.data() + begin_, sizeof(size));
  const auto bytes = std::span(inbox_).subspan(begin_ + sizeof(size), size);
  const bool parsed = message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  begin_ += sizeof(size) + size;
  if (begin_ == inbox_.size()) {
    inbox_.clear();
    begin_ = 0;
    if (inbox_.capacity() > kept_buffer_bytes * 2) std::vector<std::byte>().swap(inbox_);
  }
  if (!parsed) {
    give_up(Error(Code::internal, "an item is not a valid " + message.GetTypeName())
                .with_maybe_executed());
    return false;
  }
  taken_bytes_ += frame_header_size + size;
  if (connection_ != nullptr && taken_bytes_ >= stream_window_bytes / 2) {
    connection_->give_room(id_, std::exchange(taken_bytes_, 0));
  }
  return true;
}

void ClientStream::on_reply(const Frame& frame) {
  if (frame.header.code != 0) return end(error_of(frame, &reply_headers_));
  if (!frame.extension.empty()) {
    read_reply_extension(net::text_of(frame.extension), &reply_headers_);
  }
  end({});
}

void ClientStream::on_failure(const Error& reason) { end(Error(reason).with_maybe_executed()); }

Result<void> ClientStream::on_item(const Frame& frame) {
  if (inbox_.size() - begin_ > static_cast<std::size_t>(stream_window_bytes)) {
    return Error(Code::resource_exhausted, std::string("the stream of ") + method_.full_name +
                                               " exceeds the window of its reader");
  }
  if (!frame.extension.empty()) {
    read_reply_extension(net::text_of(frame.extension), &reply_headers_);
  }
  if (begin_ > inbox_.size() / 2) {
    inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  const auto size = static_cast<ItemSize>(frame.message.size());
  const auto* const size_bytes = reinterpret_cast<const std::byte*>(&size);
  inbox_.insert(inbox_.end(), size_bytes, size_bytes + sizeof(size));
  inbox_.insert(inbox_.end(), frame.message.begin(), frame.message.end());
  readable_.pulse();
  return {};
}

void ClientStream::end(Result<void> result) {
  connection_ = nullptr;
  if (!result_) result_ = std::move(result);
  readable_.pulse();
}

void ClientStream::give_up(Error error) {
  if (connection_ != nullptr) std::exchange(connection_, nullptr)->give_up(id_);
  inbox_.clear();
  begin_ = 0;
  result_ = std::move(error);
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

Result<void> StreamCall::finish() { return stream_->finish(); }

const ReplyHeaders& StreamCall::reply_headers() const { return stream_->reply_headers(); }

}  // namespace corolane::rpc
