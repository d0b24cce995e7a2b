// SPDX-License-Identifier: MIT
// How a client connects: one connection at a time, replaced when it is lost, by a task that lives
// while there is a reason to connect.
#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/task.h"
#include "net/crypto.h"
#include "rpc/client/detail/client_impl.h"
#include "rpc/principal.h"
#include "rpc/wire/wire.pb.h"

namespace corolane::rpc {
namespace {

// A stack may be free at any time.
constexpr std::chrono::milliseconds retry_without_stack_after(1);

// An error that an early retry will not fix: the peer rejects us, or is not a server.
bool is_lasting(const Error& error) {
  switch (error.code()) {
    case Code::unavailable:
    case Code::deadline_exceeded:
    case Code::resource_exhausted:
    case Code::not_found:  // A name that does not resolve yet.
      return false;
    default:
      return true;
  }
}

std::vector<std::string> names_of(const std::vector<net::HostPort>& peers) {
  check(!peers.empty(), "a client has a server");
  std::vector<std::string> names;
  for (const net::HostPort& peer : peers) {
    names.push_back(to_string(net::Endpoint{.address = peer.host, .port = peer.port}));
  }
  return names;
}

}  // namespace

Client::Impl::Impl(net::Network& network, std::vector<net::HostPort> peers, Options options)
    : network_(network),
      peers_(std::move(peers)),
      peer_names_(names_of(peers_)),
      options_(std::move(options)),
      jitter_(net::seed_or_random(options_.random_seed)),
      requester_(options_.requester.empty() ? net::random_text(16) : options_.requester),
      disconnected_at_(now()) {
  // Clients that start together do not all go to the first.
  if (peers_.size() > 1) peer_ = net::seed_or_random(options_.random_seed) % peers_.size();
}

Client::Impl::~Impl() {
  close();
  tasks_.cancel_and_join();
  check(task_count_ == 0, "no task is inside a call when its client is destroyed");
}

void Client::Impl::close() {
  if (closed_) return;
  closed_ = Error(Code::unavailable, "the client was closed");
  tasks_.cancel();
  waiting_.pulse();
  if (current_ != nullptr) current_->end(*closed_);
  std::vector<detail::ClientConnection*> old;
  for (const auto& connection : old_) old.push_back(connection.get());
  for (detail::ClientConnection* const connection : old) connection->end(*closed_);
}

Result<detail::ClientConnection*> Client::Impl::connection(Deadline deadline) {
  while (!is_connected()) {
    if (closed_) return *closed_;
    if (auto started = start_connecting(); !started) {
      return std::move(started.error())
          .with_context("no connection to " + peer_name())
          .with_retry_after(retry_without_stack_after);
    }
    if (is_hopeless()) return unreachable();
    const Deadline hope = Deadline::at(disconnected_at_ + options_.unreachable_after);
    ++waiting_count_;
    auto waited = waiting_.wait(earlier(deadline, hope));
    --waiting_count_;
    if (waited || (waited.error().code() == Code::deadline_exceeded && !deadline.has_passed())) {
      continue;
    }
    return std::move(waited.error()).with_context("no connection to " + peer_name());
  }
  return current_.get();
}

Result<void> Client::Impl::wait_until_connected(Deadline deadline) {
  const std::uint64_t failed_before = failed_attempt_count_;
  while (!is_connected()) {
    if (closed_) return *closed_;
    if (failed_attempt_count_ != failed_before) return *last_failure_;
    if (auto started = start_connecting(); !started) {
      return std::move(started.error()).with_context("connect to " + peer_name());
    }
    // So soon after a failure no attempt begins: this caller begins the next one.
    const Deadline next = is_connecting_ ? Deadline::never() : Deadline::at(next_attempt_at_);
    auto waited = waiting_.wait(earlier(deadline, next));
    if (waited || (waited.error().code() == Code::deadline_exceeded && !deadline.has_passed())) {
      continue;
    }
    return std::move(waited.error()).with_context("connect to " + peer_name());
  }
  return {};
}

bool Client::Impl::is_hopeless() const {
  return is_refused_ || now() - disconnected_at_ >= options_.unreachable_after;
}

Error Client::Impl::unreachable() const {
  const auto until_next =
      std::chrono::ceil<std::chrono::milliseconds>(Deadline::at(next_attempt_at_).remaining());
  Error reason = last_failure_ ? *last_failure_ : Error(Code::unavailable, "no answer so far");
  return std::move(reason)
      .with_context("no connection to " + peer_name())
      .with_retry_after(std::max(until_next, std::chrono::milliseconds(1)));
}

Result<void> Client::Impl::start_connecting() {
  if (is_connecting_ || closed_ || now() < next_attempt_at_) return {};
  is_connecting_ = true;
  if (!last_failure_) disconnected_at_ = now();
  auto spawned = tasks_.spawn("rpc connect", [this] { keep_connecting(); });
  if (spawned) return {};
  is_connecting_ = false;
  return std::move(spawned.error());
}

// Runs until there is a connection, or until the server counts as unreachable.
void Client::Impl::keep_connecting() {
  while (!closed_) {
    auto connected = connect_once();
    if (connected && is_connected()) break;
    // The server may have asked us to leave at once.
    last_failure_ = connected ? Error(Code::unavailable, "the server drains") : connected.error();
    try_next_peer();
    // A failure counts once all servers have been tried.
    const int peer_count = static_cast<int>(peers_.size());
    if (++failed_count_ % peer_count != 0) continue;
    ++failed_attempt_count_;
    is_refused_ = is_lasting(*last_failure_);
    const Duration delay = delay_after(options_.reconnect_delay_min, options_.reconnect_delay_max,
                                       failed_count_ / peer_count);
    next_attempt_at_ = now() + delay;
    waiting_.pulse();
    const bool keeps_trying = options_.pushes != nullptr && !is_refused_;
    if (is_hopeless() && !keeps_trying) {
      if (options_.pushes != nullptr) options_.pushes->on_end(*last_failure_);
      break;
    }
    if (!coroutine::sleep_for(delay)) break;
  }
  is_connecting_ = false;
}

Result<void> Client::Impl::connect_once() {
  const Deadline deadline = Deadline::after(options_.connect_time_max);
  // Before the server begins to wait for the hello.
  Result<std::string> token = options_.token ? options_.token() : Result<std::string>("");
  if (!token) return std::move(token.error()).with_context("the token for " + peer_name());
  if (token->size() > token_bytes_max) {
    return Error(Code::invalid_argument, "a token of " + std::to_string(token->size()) +
                                             " bytes is above the limit of " +
                                             std::to_string(token_bytes_max));
  }
  auto stream = net::connect_to(network_, peers_[peer_], deadline);
  if (!stream) return std::move(stream.error());
  if (closed_) return *closed_;
  // The old connection broke, and the loop has not reported it yet.
  if (current_ != nullptr) current_->end(Error(Code::unavailable, "lost the connection"));
  ++statistics_.connect_count;
  handshake_ended_.reset();
  using detail::Handshake;
  current_ = std::make_unique<detail::ClientConnection>(
      static_cast<detail::ClientConnection::Host&>(*this), std::move(*stream),
      Handshake(Handshake::Role::client, options_.security,
                {.requester = requester_,
                 .token = *std::move(token),
                 .payload_bytes_max = options_.reply_bytes_max,
                 .keeps_session = options_.pushes != nullptr,
                 .session = session_,
                 .received_push = received_push_}),
      detail::Connection::Limits{.handshake_time_max = options_.connect_time_max,
                                 .keepalive = options_.keepalive});
  const detail::ClientConnection* const made = current_.get();
  current_->start();
  auto waited = handshake_ended_.wait(deadline);
  if (current_.get() == made && made->is_open()) return {};
  if (current_.get() == made) {
    Error reason = std::move(waited.error()).with_context(peer_name() + " sent no hello");
    current_->end(reason);
    return reason;
  }
  // The connection ended meanwhile, and ended() has recorded why.
  return last_failure_ ? Result<void>(*last_failure_) : Result<void>();
}

void Client::Impl::opened(detail::ClientConnection& connection) {
  failed_count_ = 0;
  last_failure_.reset();
  is_refused_ = false;
  next_attempt_at_ = TimePoint::min();
  handshake_ended_.set();
  waiting_.pulse();
  if (options_.pushes == nullptr) return;
  if (connection.session().empty()) {
    return options_.pushes->on_end(Error(Code::unimplemented, "the server keeps no sessions"));
  }
  if (!connection.is_resumed()) {
    received_push_ = 0;
    unfollowed_.clear();
  }
  session_ = connection.session();
  for (const std::uint32_t group : unfollowed_) connection.unfollow(group);
  options_.pushes->on_session(connection.is_resumed());
}

void Client::Impl::pushed(detail::ClientConnection& connection, const Frame& frame) {
  // A former server may still answer calls while another one has begun a session.
  if (options_.pushes == nullptr || connection.session() != session_) return;
  const std::uint64_t number = frame.header.call_id;
  if (number <= received_push_ || closed_) return;  // It has come before.
  const bool is_gap = frame.header.type == FrameType::push_gap;
  const std::uint64_t before = std::exchange(received_push_, number);
  const std::uint64_t lost_count = number - before - (is_gap ? 0 : 1);
  if (lost_count > 0) options_.pushes->on_gap(lost_count);
  if (is_gap) return;
  if (frame.header.time != 0) return push_news(frame);
  if (!frame.extension.empty() && has_received_kept(net::text_of(frame.extension))) {
    return options_.pushes->on_repeated(number);
  }
  options_.pushes->on_push(
      {.number = number, .type = frame.header.method_id, .bytes = frame.message});
}

// Otherwise notes that it is received now.
bool Client::Impl::has_received_kept(std::string_view extension) {
  PushExtension kept;
  const bool is_read = kept.ParseFromArray(extension.data(), static_cast<int>(extension.size()));
  if (!is_read || kept.mailbox() == 0) return false;
  // The client has logged in as another user.
  if (kept.mailbox() != mailbox_) received_kept_ = 0;
  mailbox_ = kept.mailbox();
  if (kept.number() <= received_kept_) return true;
  received_kept_ = kept.number();
  return false;
}

void Client::Impl::push_news(const Frame& frame) {
  static const std::uint64_t gap_type = method_id(GroupGap().GetTypeName());
  static const std::uint64_t end_type = method_id(GroupEnd().GetTypeName());
  const std::uint32_t group = frame.header.time;
  const std::uint64_t type = frame.header.method_id;
  if (type == end_type) {
    unfollowed_.erase(group);
    GroupEnd end;
    // A reason that cannot be read is none.
    end.ParseFromArray(frame.message.data(), static_cast<int>(frame.message.size()));
    options_.pushes->on_group_end(group, Error(code_from_number(end.code()), end.reason()));
  } else if (unfollowed_.contains(group)) {
    return;
  } else if (type == gap_type) {
    options_.pushes->on_group_gap(group);
  } else {
    options_.pushes->on_push(
        {.number = frame.header.call_id, .type = type, .group = group, .bytes = frame.message});
  }
}

void Client::Impl::unfollow(std::uint32_t group) {
  if (session_.empty() || !unfollowed_.insert(group).second) return;
  if (current_ != nullptr) current_->unfollow(group);
}

std::uint64_t Push::type_of(const google::protobuf::MessageLite& message) {
  return method_id(message.GetTypeName());
}

void Client::Impl::ended(detail::ClientConnection& connection, const Error* reason) {
  if (current_.get() != &connection) return;
  old_.push_back(std::move(current_));
  disconnected_at_ = now();
  if (reason != nullptr) {
    last_failure_ = *reason;
    is_refused_ = !is_connecting_ && is_lasting(*reason);
  }
  handshake_ended_.set();
  if (closed_) return;
  // The server drains.
  if (reason == nullptr) try_next_peer();
  // Reconnects ahead of the next call, unless the peer rejected us for good or there is no stack;
  // then the next call does.
  if (reason == nullptr || !is_lasting(*reason)) {
    static_cast<void>(start_connecting());
  } else if (options_.pushes != nullptr && !is_connecting_) {
    session_.clear();
    received_push_ = 0;
    options_.pushes->on_end(*reason);
  }
}

void Client::Impl::over(detail::ClientConnection& connection) {
  const auto found =
      std::ranges::find(old_, &connection, [](const auto& old) { return old.get(); });
  check(found != old_.end(), "a connection that is over has ended before");
  over_.bury(std::move(*found));
  old_.erase(found);
}

}  // namespace corolane::rpc
