// SPDX-License-Identifier: MIT
#include "rpc/client/detail/client_connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "net/stream.h"
#include "rpc/wire/request_extension.h"

namespace corolane::rpc::detail {
namespace {

using namespace std::chrono_literals;

// The wire carries the time left, so that clocks need not agree; 0 for no deadline.
std::uint32_t microseconds_left(Deadline deadline) {
  if (deadline.is_never()) return 0;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(deadline.remaining());
  return static_cast<std::uint32_t>(std::clamp(left, 1us, time_left_max).count());
}

}  // namespace

Error error_of(const Frame& frame, ReplyHeaders* headers) {
  Error error(code_from_number(frame.header.code), std::string(text_of(frame)));
  if (frame.header.not_executed) error = std::move(error).with_not_executed();
  if (frame.header.maybe_executed) error = std::move(error).with_maybe_executed();
  error = std::move(error).with_origin(frame.header.is_from_handler ? Origin::handler
                                                                    : Origin::runtime);
  if (!frame.extension.empty()) {
    error =
        std::move(error).with_detail(read_reply_extension(net::text_of(frame.extension), headers));
  }
  return std::move(error).with_retry_after(std::chrono::milliseconds(frame.header.time));
}

// Lives on the stack of the calling task.
struct ClientConnection::UnaryCall final : PendingCall {
  UnaryCall(const Method& method, google::protobuf::Message& message, ReplyHeaders* beside)
      : reply(message), headers(beside), done(method.full_name) {}

  void on_reply(const Frame& frame) override {
    if (frame.header.code != 0) {
      error = error_of(frame, headers);
      return done.set();
    }
    if (headers != nullptr && !frame.extension.empty()) {
      read_reply_extension(net::text_of(frame.extension), headers);
    }
    if (!reply.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size()))) {
      error = Error(Code::internal, "the reply is not a valid " + reply.GetTypeName())
                  .with_maybe_executed();
    }
    done.set();
  }
  void on_failure(const Error& reason) override {
    error = Error(reason).with_maybe_executed();
    done.set();
  }
  Result<void> on_item(const Frame&) override {
    return Error(Code::invalid_argument, "the server sent items for a call that has one reply");
  }

  google::protobuf::Message& reply;
  ReplyHeaders* const headers;  // May be null.
  std::optional<Error> error;
  coroutine::Event done;
};

// Keeps the connection alive for a task that is inside one of its calls.
class ClientConnection::Inside {
 public:
  explicit Inside(ClientConnection& connection) : connection_(connection) {
    ++connection_.task_count_;
  }
  ~Inside() {
    --connection_.task_count_;
    connection_.close_when_idle();
    connection_.note_over();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  ClientConnection& connection_;
};

ClientConnection::ClientConnection(Host& host, std::unique_ptr<net::Stream> stream,
                                   Handshake handshake, const Limits& limits)
    : Connection(std::move(stream), std::move(handshake), limits),
      host_(host),
      stream_(&this->stream()),
      peer_(to_string(this->stream().peer_endpoint())) {}

Result<void> ClientConnection::call(const Method& method, const google::protobuf::Message& request,
                                    google::protobuf::Message& reply, ReplyHeaders* reply_headers,
                                    Deadline deadline, const std::string_view& extension) {
  const Inside inside(*this);
  UnaryCall pending(method, reply, reply_headers);
  const std::uint64_t id = pending_.add(pending);
  auto sent = send_request(id, method, request, deadline, extension);
  // No reply comes to a request that does not fit a frame, or whose connection broke while sending
  // waited.
  const bool is_hopeless = !sent && (sent.error().code() == Code::resource_exhausted ||
                                     sent.error().code() == Code::unavailable);
  Result<void> waited;
  // A reply or the end of the connection may have arrived while sending waited.
  if (pending_.find(id) != nullptr && !is_hopeless) waited = pending.done.wait(deadline);
  if (pending_.take(id) == nullptr) {
    if (pending.error) return std::move(*pending.error);
    return {};
  }
  if (is_hopeless) return std::move(sent.error());
  tell_cancelled(id);
  if (!waited && waited.error().code() == Code::deadline_exceeded) {
    return Error(Code::deadline_exceeded, std::string("no reply of ") + method.full_name +
                                              " from " + peer_ + " within the deadline")
        .with_maybe_executed();
  }
  return Error(Code::cancelled, std::string("cancelled while waiting for ") + method.full_name)
      .with_maybe_executed();
}

Result<std::uint64_t> ClientConnection::open_stream(PendingCall& call, const Method& method,
                                                    const google::protobuf::Message& request,
                                                    Deadline deadline, std::string_view extension) {
  const Inside inside(*this);
  const std::uint64_t id = pending_.add(call);
  auto sent = send_request(id, method, request, deadline, extension);
  // Items and even the end may have arrived while sending waited; the call has received them.
  if (sent || pending_.find(id) == nullptr) return id;
  pending_.take(id);
  if (sent.error().maybe_executed()) tell_cancelled(id);
  return std::move(sent.error());
}

Result<void> ClientConnection::send_item(std::uint64_t id, const google::protobuf::Message& message,
                                         Deadline deadline) {
  const Inside inside(*this);
  return send({.type = FrameType::item, .call_id = id}, message, deadline);
}

void ClientConnection::end_items(std::uint64_t id) {
  // Appended even when there is no room: it is small, and no task waits for it.
  static_cast<void>(
      Connection::send_text({.type = FrameType::end, .call_id = id}, "", Deadline::passed()));
}

void ClientConnection::give_room(std::uint64_t id, std::size_t bytes) {
  if (pending_.find(id) == nullptr) return;
  send_text({.type = FrameType::window, .call_id = id, .time = static_cast<std::uint32_t>(bytes)},
            "");
}

void ClientConnection::give_up(std::uint64_t id) {
  if (pending_.take(id) == nullptr) return;
  tell_cancelled(id);
  close_when_idle();
}

Result<void> ClientConnection::notify(const Method& method,
                                      const google::protobuf::Message& request, Deadline deadline,
                                      std::string_view extension) {
  const Inside inside(*this);
  return send_request(0, method, request, deadline, extension);
}

Result<void> ClientConnection::send_request(std::uint64_t id, const Method& method,
                                            const google::protobuf::Message& request,
                                            Deadline deadline, std::string_view extension) {
  auto sent = send({.type = FrameType::request,
                    .call_id = id,
                    .method_id = method.id,
                    .time = microseconds_left(deadline)},
                   request, deadline, extension);
  if (sent) return sent;
  // Only a request that the server does not take was certainly not sent.
  if (sent.error().code() == Code::resource_exhausted) {
    return std::move(sent.error()).with_context(method.full_name).with_not_executed();
  }
  return std::move(sent.error()).with_maybe_executed();
}

void ClientConnection::tell_cancelled(std::uint64_t id) {
  // Appended even when there is no room: it is small, and no task waits for it.
  static_cast<void>(
      Connection::send_text({.type = FrameType::cancel, .call_id = id}, "", Deadline::passed()));
}

void ClientConnection::end(const Error& reason) {
  if (lost_) return;
  lost_ = reason;
  close();
  pending_.end_all(reason);
  host_.ended(*this, &reason);
  note_over();
}

void ClientConnection::note_over() {
  if (lost_ && task_count_ == 0) host_.over(*this);
}

Result<void> ClientConnection::on_open() {
  host_.opened(*this);
  return {};
}

void ClientConnection::unfollow(std::uint32_t group) {
  if (is_open()) append_text({.type = FrameType::unfollow, .call_id = group}, "");
}

// One acknowledgement for all pushes that have arrived at once.
void ClientConnection::on_pause() {
  if (!std::exchange(owes_acknowledgement_, false)) return;
  append_text({.type = FrameType::push_ack, .call_id = received_push_}, "");
}

Result<void> ClientConnection::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::push:
    case FrameType::push_gap:
      if (session().empty()) break;
      owes_acknowledgement_ = true;
      received_push_ = std::max(received_push_, frame.header.call_id);
      host_.pushed(*this, frame);
      return {};
    case FrameType::reply: {
      PendingCall* const call = pending_.take(frame.header.call_id);
      if (call == nullptr) return {};  // The caller gave up before the reply came.
      if (frame.is_too_large) {
        call->on_failure(too_large(frame));
      } else {
        call->on_reply(frame);
      }
      close_when_idle();
      return {};
    }
    case FrameType::item: {
      PendingCall* const call = pending_.find(frame.header.call_id);
      if (call == nullptr) return {};
      if (!frame.is_too_large) return call->on_item(frame);
      pending_.take(frame.header.call_id);
      call->on_failure(too_large(frame));
      tell_cancelled(frame.header.call_id);
      close_when_idle();
      return {};
    }
    case FrameType::window:
      if (PendingCall* const call = pending_.find(frame.header.call_id)) {
        call->on_window(frame.header.time);
      }
      return {};
    case FrameType::go_away:
      leave();
      return {};
    default:
      break;
  }
  return Error(Code::invalid_argument, "a server sends replies and items only");
}

Error ClientConnection::too_large(const Frame& frame) const {
  const bool is_error = frame.header.code != 0;
  const Error reason = above_limit(is_error ? "the text of an error" : "a reply",
                                   frame.header.payload_size, payload_bytes_max());
  return is_error ? Error(code_from_number(frame.header.code), reason.message()) : reason;
}

void ClientConnection::leave() {
  if (is_leaving_) return;
  is_leaving_ = true;
  // No request is sent after this: every sender checks takes_calls() first.
  send_text({.type = FrameType::go_away}, "");
  if (lost_) return;
  host_.ended(*this, nullptr);
  close_when_idle();
}

// The server closes its end when it has read the rest.
void ClientConnection::close_when_idle() {
  if (!is_leaving_ || closes_when_idle_ || lost_) return;
  if (pending_.count() > 0 || task_count_ > 0) return;
  closes_when_idle_ = true;
  stream().finish_writing();
}

void ClientConnection::on_lost(const Error& reason) {
  const Error lost(Code::unavailable, "lost the connection to " + peer_ + ": " + reason.message());
  // The code of the peer's bye, or of its protocol error, is kept for all pending calls.
  end(reason.code() == Code::unavailable ? lost : Error(reason.code(), lost.message()));
}

}  // namespace corolane::rpc::detail
