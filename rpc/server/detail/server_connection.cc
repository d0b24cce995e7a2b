// SPDX-License-Identifier: MIT
#include "rpc/server/detail/server_connection.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "coroutine/scheduler.h"
#include "net/crypto.h"
#include "rpc/server/detail/call.h"
#include "rpc/server/detail/seeded_bugs.h"
#include "rpc/wire/request_extension.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc::detail {
namespace {

// The retry_after in milliseconds, clamped to what the wire holds.
std::uint32_t retry_milliseconds(const Error& error) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
      error.retry_after().count(), 0, std::numeric_limits<std::uint32_t>::max()));
}

FrameHeader error_header(std::uint64_t call_id, const Error& error) {
  return {.type = FrameType::reply,
          .code = static_cast<std::uint8_t>(error.code()),
          .maybe_executed = error.maybe_executed(),
          .not_executed = error.not_executed(),
          .is_from_handler = error.is_from_handler(),
          .call_id = call_id,
          .time = retry_milliseconds(error)};
}

// The scope is a digest, since it is stored and sent to other nodes: the client's secret cannot be
// recovered from it.
std::string scope_of(std::string_view requester, std::string_view identity,
                     std::string_view principal) {
  net::Digest digest;
  if (requester.empty() && identity.empty() && principal.empty()) {
    net::fill_with_random_bytes(digest);
  } else {
    const std::string_view key = requester.empty() ? "corolane request scope" : requester;
    const std::string identity_size = std::to_string(identity.size());
    digest = net::hmac_sha256(key, {"certificate ", identity_size, " ", identity, principal});
  }
  return std::string(reinterpret_cast<const char*>(digest.data()), RequestId::scope_bytes_max);
}

}  // namespace

ServerConnection::ServerConnection(Host& host, std::uint64_t id,
                                   std::unique_ptr<net::Stream> stream, Handshake handshake,
                                   const Limits& limits, const Rules& rules)
    : Connection(std::move(stream), std::move(handshake), limits),
      host_(host),
      id_(id),
      rules_(rules),
      slowdown_(this->stream()) {
  door_ = rules.door;
  peer_ = to_string(this->stream().peer_endpoint());
}

std::string_view ServerConnection::request_scope() {
  if (request_scope_.empty()) request_scope_ = scope_of(requester(), peer_identity_, principal_.id);
  return request_scope_;
}

void ServerConnection::add(Call& call) {
  call.index = calls_.size();
  calls_.push_back(&call);
  call_ids_.push_back(call.id());
  shares.take();
  of_principal.take_call();
}

void ServerConnection::remove(Call& call) {
  ++ended_call_count_;
  shares.give_back();
  of_principal.give_back_call();
  calls_.back()->index = call.index;
  calls_[call.index] = calls_.back();
  calls_.pop_back();
  call_ids_[call.index] = call_ids_.back();
  call_ids_.pop_back();
  // A handler may still be inside a write when its connection closes.
  if (closed_ && calls_.empty()) host_.ended(*this);
}

Result<void> ServerConnection::check_may_call() const {
  if (!of_principal.has_room_to_call()) {
    return Error(Code::resource_exhausted, "the calls of this principal are running already")
        .with_retry_after(rules_.retry_after);
  }
  if (calls_.size() < rules_.call_count_max) return {};
  return Error(Code::resource_exhausted, std::to_string(rules_.call_count_max) +
                                             " calls of this connection are running already")
      .with_retry_after(rules_.retry_after);
}

Result<void> ServerConnection::send_reply(std::uint64_t call_id,
                                          const google::protobuf::Message& message, Beside beside,
                                          Deadline deadline) {
  return Connection::send_reply({.type = FrameType::reply, .call_id = call_id}, message, deadline,
                                reply_extension({}, beside.headers, beside.trailers));
}

Result<void> ServerConnection::send_item(std::uint64_t call_id,
                                         const google::protobuf::Message& message, Beside beside,
                                         Deadline deadline) {
  return send({.type = FrameType::item, .call_id = call_id}, message, deadline,
              reply_extension({}, beside.headers, nullptr));
}

void ServerConnection::grant(std::uint64_t call_id, std::uint32_t bytes) {
  // Appended even when there is no room: it is small, and a handler waits for nothing here.
  static_cast<void>(Connection::send_text(
      {.type = FrameType::window, .call_id = call_id, .time = bytes}, "", Deadline::passed()));
}

// A failure means that the client is gone.
void ServerConnection::send_end(std::uint64_t call_id, Beside beside, Deadline deadline) {
  static_cast<void>(send_text({.type = FrameType::reply, .call_id = call_id}, "", deadline,
                              reply_extension({}, beside.headers, beside.trailers)));
}

void ServerConnection::send_error(std::uint64_t call_id, const Error& error, Beside beside,
                                  Deadline deadline) {
  static_cast<void>(send_text(error_header(call_id, error), error.message(), deadline,
                              reply_extension(error.detail(), beside.headers, beside.trailers)));
}

void ServerConnection::refuse(std::uint64_t call_id, const Error& error) {
  FrameHeader header = error_header(call_id, error);
  header.not_executed = !header.maybe_executed;
  send_text(std::move(header), error.message(), reply_extension(error.detail(), nullptr, nullptr));
}

void ServerConnection::ask_to_leave() {
  if (!is_open() || has_left_ || was_asked_to_leave_) return;
  was_asked_to_leave_ = true;
  // The client may be slow to read its pushes.
  append_text({.type = FrameType::go_away}, "");
}

void ServerConnection::cancel_streams() {
  for (Call* const call : std::vector(calls_)) {
    if (call->served().method->is_stream()) call->stop();
  }
}

Result<bool> ServerConnection::on_hello() {
  peer_identity_ = stream().peer_identity();
  if (rules_.needs_peer_certificate && peer_identity_.empty()) {
    return Error(Code::unauthenticated, "a client certificate is required here");
  }
  if (rules_.login == nullptr && !host_.sessions().may_be_elsewhere(named_session())) {
    if (keeps_session()) take_session(host_.sessions().find_or_begin(named_session(), principal_));
    return true;
  }
  if (auto begun = host_.log_in(*this); !begun) return begun.error();
  return false;
}

void ServerConnection::end_login() {
  if (!login_) return;
  login_ = {};
  shares.give_back();
}

bool ServerConnection::logged_in(Result<Principal> principal, const SessionTable::Found& session) {
  end_login();
  if (!awaits_answer()) return false;
  if (!principal) {
    say_bye(principal.error());
    return false;
  }
  principal_ = *std::move(principal);
  of_principal = host_.principals().enter(principal_.id);
  if (!of_principal.has_room_to_connect()) {
    say_bye(Error(Code::resource_exhausted, "this principal has its limit of connections already"));
    return false;
  }
  if (session.session != nullptr) take_session(session);
  accept();
  return true;
}

// A session has its push numbers from its beginning on; nodes keep none. A client that has yet to
// prove that it knows a key keeps none either.
bool ServerConnection::keeps_session() {
  return handshake().keeps_session() && door_ == Door::clients && handshake().is_done();
}

std::string ServerConnection::named_session() {
  return keeps_session() ? handshake().session() : std::string();
}

void ServerConnection::take_session(const SessionTable::Found& found) {
  session_ = found.session;
  received_push_ = found.is_resumed ? handshake().received_push() : 0;
  handshake().set_session(host_.sessions().token_of(*session_), found.is_resumed);
  if (COROLANE_SESSION_BUG(push_before_login)) {
    static_cast<void>(host_.sessions().attach(*session_, *this, received_push_));
  }
}

bool ServerConnection::send_push(const Session::Pushed& push) {
  std::string extension;
  if (push.mailbox != 0) {
    PushExtension kept;
    kept.set_mailbox(push.mailbox);
    kept.set_number(push.kept_number);
    extension = kept.SerializeAsString();
  }
  // It would end the connection, and be sent again over the next one.
  if (push.bytes->size() + extension.size() > handshake().peer_payload_bytes_max()) {
    return send_gap(push.number);
  }
  return try_send_text({.type = FrameType::push,
                        .call_id = push.number,
                        .method_id = push.type,
                        .time = push.group},
                       *push.bytes, extension)
      .has_value();
}

bool ServerConnection::send_gap(std::uint64_t number) {
  return try_send_text({.type = FrameType::push_gap, .call_id = number}, "").has_value();
}

// A client that has said go_away closes the connection when it has all replies.
void ServerConnection::leave(const Error& reason, bool has_moved) {
  const bool awaits_replies = has_left_ && !calls_.empty();
  if (!has_moved || !awaits_replies) say_bye(reason);
}

void ServerConnection::see_calls(const Session::SeeCall& see) const {
  const TimePoint time = now();
  for (const Call* const call : calls_) {
    see({.method = call->served().method->full_name,
         .object = call->object_id(),
         .age = time - call->arrived_at(),
         .task = call->task()});
  }
}

Result<void> ServerConnection::on_open() {
  if (auto opened = host_.opened(); !opened) return opened;
  if (session_ == nullptr) return {};
  if (session_->has_ended()) return Error(Code::unavailable, "the session has just ended");
  if (COROLANE_SESSION_BUG(push_before_login)) return {};
  return host_.sessions().attach(*session_, *this, received_push_);
}

void ServerConnection::Slowdown::begin(Duration time) {
  stream_.pause_reading();
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(time));
}

Result<bool> ServerConnection::is_within_rate(const Frame& frame, std::size_t call_count) {
  if (session_ == nullptr) return true;
  using Verdict = SessionTable::Verdict;
  const auto judgement = host_.sessions().judge(
      *session_, call_count, frame_header_size + frame.header.payload_size, heard_at());
  if (judgement.verdict == Verdict::serve) return true;
  const Error reason(Code::resource_exhausted, "this client is above the rate of its session");
  if (judgement.verdict == Verdict::disconnect) return reason;
  slowdown_.begin(judgement.pause);
  if (judgement.verdict == Verdict::slow) return true;
  const auto retry_after = std::chrono::ceil<std::chrono::milliseconds>(judgement.pause);
  if (frame.header.call_id != 0) {
    refuse(frame.header.call_id, Error(reason).with_retry_after(retry_after));
  }
  return false;
}

Result<void> ServerConnection::on_frame(const Frame& frame) {
  switch (frame.header.type) {
    case FrameType::request:
      if (has_left_) return Error(Code::invalid_argument, "a request arrived after go_away");
      if (auto is_served = is_within_rate(frame, 1); !is_served || !*is_served) {
        return is_served ? Result<void>() : is_served.error();
      }
      host_.serve(*this, frame);
      return {};
    case FrameType::cancel:
      if (Call* const call = find(frame.header.call_id)) call->cancel();
      return {};
    case FrameType::item:
      if (auto is_served = is_within_rate(frame, 0); !is_served) return is_served.error();
      if (Call* const call = find(frame.header.call_id)) return call->take_item(frame);
      return {};
    case FrameType::end:
      if (Call* const call = find(frame.header.call_id)) call->end_items();
      return {};
    case FrameType::window:
      if (Call* const call = find(frame.header.call_id)) call->give_room(frame.header.time);
      return {};
    case FrameType::go_away:
      has_left_ = true;
      return {};
    case FrameType::push_ack:
      if (session_ == nullptr) break;
      return host_.sessions().acknowledge(*session_, *this, frame.header.call_id);
    case FrameType::unfollow:
      if (session_ == nullptr) break;
      if (frame.header.call_id <= std::numeric_limits<std::uint32_t>::max()) {
        session_->unfollow(static_cast<std::uint32_t>(frame.header.call_id));
      }
      return {};
    default:
      break;
  }
  return Error(Code::invalid_argument, "a client may not send frames of this type");
}

// One-way calls cannot be found by id: they all have the same one.
Call* ServerConnection::find(std::uint64_t call_id) const {
  const auto found = std::ranges::find(call_ids_, call_id);
  if (found == call_ids_.end()) return nullptr;
  Call* const call = calls_[static_cast<std::size_t>(found - call_ids_.begin())];
  return call->is_one_way() ? nullptr : call;
}

void ServerConnection::on_lost(const Error&) {
  slowdown_.end();
  if (login_) login_.cancel();
  end_login();
  // Nobody else knows a session that only its table and this connection hold.
  const bool is_known = session_.use_count() > 2;
  if (session_ != nullptr) host_.sessions().detach(*session_, *this, is_known);
  // A copy, since calls that have not begun leave the list.
  for (Call* const call : std::vector(calls_)) {
    // No caller waits for the end of a one-way call, so it runs on.
    if (!call->is_one_way()) call->cancel();
  }
}

void ServerConnection::on_closed() {
  closed_ = true;
  end_login();
  if (calls_.empty()) host_.ended(*this);
}

}  // namespace corolane::rpc::detail
