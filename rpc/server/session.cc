// SPDX-License-Identifier: MIT
// A session and the table of all: what is kept for a client, and what its connection is sent.
#include "rpc/session.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "net/crypto.h"
#include "rpc/server/detail/session_table.h"
#include "rpc/wire/frame.h"

namespace corolane::rpc {
namespace {

using namespace std::chrono_literals;

// While a client takes no more output, its acknowledgements say when there is room. When none are
// under way a look at this interval does.
constexpr Duration room_interval = 100ms;

// What a push in the ring takes beside its bytes.
constexpr std::size_t push_overhead_bytes = 64;

// How far ahead of its rate a client is refused, and disconnected. One read may bring what it has
// sent before it was slowed.
constexpr double refusal_debt_seconds = 1;
constexpr double flood_debt_seconds = 2;

std::size_t size_of(const Session::Pushed& push) { return push.bytes.size() + push_overhead_bytes; }

}  // namespace

Session::Session(detail::SessionTable& table, std::uint64_t number, std::string token,
                 Principal principal)
    : Timer([](Timer& timer) { static_cast<Session&>(timer).on_time(); }),
      table_(&table),
      number_(number),
      token_(std::move(token)),
      principal_(std::move(principal)),
      calls_(table.options_.calls_per_second_max),
      bytes_(table.options_.bytes_per_second_max) {}

Session::~Session() { check(ended_by_.has_value(), "a session ends before it is destroyed"); }

Session::Statistics Session::statistics() const {
  return {.pushed_count = last_number_,
          .acknowledged_number = acknowledged_number_,
          .lost_count = lost_count_,
          .resumed_count = attached_count_ == 0 ? 0 : attached_count_ - 1,
          .ring_count = ring_.size(),
          .ring_bytes = ring_bytes_,
          .begun_at = begun_at_};
}

Result<void> Session::push(const google::protobuf::MessageLite& message) {
  if (ended_by_) return Error(Code::unavailable, "the session has ended: " + ended_by_->message());
  Pushed push{.type = method_id(message.GetTypeName()), .bytes = message.SerializeAsString()};
  const SessionOptions& options = table_->options_;
  const std::size_t size = size_of(push);
  if (size > options.ring_bytes_max) {
    return above_limit("a push", push.bytes.size(), options.ring_bytes_max - push_overhead_bytes);
  }
  push.number = ++last_number_;
  ring_bytes_ += size;
  table_->ring_bytes_ += size;
  ring_.push_back(std::move(push));
  send_rest();
  while (ring_.size() > options.ring_count_max || ring_bytes_ > options.ring_bytes_max ||
         (table_->ring_bytes_ > options.bytes_max && !ring_.empty())) {
    drop_oldest();
  }
  return {};
}

void Session::drop_oldest() {
  const std::size_t size = size_of(ring_.front());
  ring_.pop_front();
  ring_bytes_ -= size;
  table_->ring_bytes_ -= size;
}

void Session::forget_through(std::uint64_t number) {
  while (!ring_.empty() && ring_.front().number <= number) drop_oldest();
  acknowledged_number_ = std::max(acknowledged_number_, number);
}

// Sends the pushes that the connection has not been sent, as far as there is room.
void Session::send_rest() {
  if (socket_ == nullptr) return;
  while (sent_number_ < last_number_) {
    const std::uint64_t next = ring_.empty() ? last_number_ + 1 : ring_.front().number;
    if (next > sent_number_ + 1) {
      if (!socket_->send_gap(next - 1)) break;
      const std::uint64_t lost_count = next - 1 - sent_number_;
      lost_count_ += lost_count;
      table_->counts_.lost_push_count += lost_count;
      sent_number_ = next - 1;
      continue;
    }
    const Pushed& push = ring_[static_cast<std::size_t>(sent_number_ + 1 - next)];
    if (!socket_->send_push(push)) break;
    sent_number_ = push.number;
  }
  if (sent_number_ < last_number_ && socket_ != nullptr) {
    coroutine::Scheduler::current().timers().arm(*this, Deadline::after(room_interval));
  }
}

Result<void> Session::attach(Socket& socket, std::uint64_t received_number) {
  if (received_number > last_number_) {
    return Error(Code::invalid_argument, "the client has received pushes that were never sent");
  }
  if (socket_ != nullptr) {
    std::exchange(socket_, nullptr)
        ->leave(Error(Code::aborted, "another connection has resumed this session"));
  }
  end_waiting();
  ++attached_count_;
  socket_ = &socket;
  forget_through(received_number);
  sent_number_ = received_number;
  send_rest();
  return {};
}

void Session::detach(const Socket& socket, bool is_known) {
  if (socket_ != &socket) return;
  socket_ = nullptr;
  if (!is_known && last_number_ == 0 && end_functions_.empty()) {
    return end(Error(Code::cancelled, "its client has left"));
  }
  begin_waiting();
}

void Session::begin_waiting() {
  place_among_waiting_ = table_->waiting_.insert(table_->waiting_.end(), this);
  is_waiting_ = true;
  const Duration patience = table_->options_.patience;
  coroutine::Scheduler::current().timers().arm(*this, Deadline::after(patience));
}

void Session::end_waiting() {
  Timer::cancel();
  if (std::exchange(is_waiting_, false)) table_->waiting_.erase(place_among_waiting_);
}

Result<void> Session::acknowledge(const Socket& socket, std::uint64_t number) {
  if (socket_ != &socket) return {};
  if (number > sent_number_) {
    return Error(Code::invalid_argument, "the client acknowledges a push that was never sent");
  }
  forget_through(number);
  send_rest();
  return {};
}

Session::Judgement Session::judge(std::size_t call_count, std::size_t bytes, TimePoint time) {
  calls_.take(static_cast<double>(call_count), time);
  bytes_.take(static_cast<double>(bytes), time);
  const double debt = std::max(calls_.debt_seconds(), bytes_.debt_seconds());
  if (debt == 0 || ended_by_) return {};
  if (debt > flood_debt_seconds) {
    ++table_->counts_.flooded_count;
    return {.verdict = Verdict::disconnect};
  }
  const auto pause = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(debt));
  if (debt > refusal_debt_seconds && call_count > 0) {
    ++table_->counts_.limited_count;
    return {.verdict = Verdict::refuse, .pause = pause};
  }
  ++table_->counts_.slowed_count;
  return {.verdict = Verdict::slow, .pause = pause};
}

void Session::on_time() {
  if (socket_ != nullptr) return send_rest();
  ++table_->counts_.expired_count;
  end(Error(Code::deadline_exceeded, "its client has not come back"));
}

void Session::kick(const Error& reason) {
  if (ended_by_) return;
  ++table_->counts_.kicked_count;
  end(reason);
}

void Session::end(const Error& reason) {
  if (ended_by_) return;
  ended_by_ = reason;
  end_waiting();
  while (!ring_.empty()) drop_oldest();
  // The table's reference may be the last one.
  detail::SessionTable& table = *std::exchange(table_, nullptr);
  const auto found = table.sessions_.find(token_);
  const std::shared_ptr<Session> self = std::move(found->second);
  table.sessions_.erase(found);
  if (socket_ != nullptr) std::exchange(socket_, nullptr)->leave(reason);
  for (const auto& function : std::exchange(end_functions_, {})) function(reason);
}

void Session::on_end(std::function<void(const Error& reason)> function) {
  if (ended_by_) return function(*ended_by_);
  end_functions_.push_back(std::move(function));
}

namespace detail {

SessionTable::Found SessionTable::find_or_begin(std::string_view token,
                                                const Principal& principal) {
  if (!token.empty()) {
    const auto found = sessions_.find(std::string(token));
    if (found != sessions_.end() && found->second->principal().id == principal.id) {
      ++counts_.resumed_count;
      found->second->principal_ = principal;
      return {.session = found->second, .is_resumed = true};
    }
    ++counts_.refused_count;
  }
  if (sessions_.size() >= options_.count_max && !waiting_.empty()) {
    waiting_.front()->end(Error(Code::resource_exhausted, "newer sessions need the room"));
  }
  std::string own_token = net::random_text(token_bytes);
  std::shared_ptr<Session> session(new Session(*this, ++last_number_, own_token, principal));
  sessions_.emplace(std::move(own_token), session);
  session->begin_waiting();
  ++counts_.begun_count;
  return {.session = std::move(session), .is_resumed = false};
}

void SessionTable::end_all(const Error& reason) {
  while (!sessions_.empty()) sessions_.begin()->second->end(reason);
}

SessionCounts SessionTable::statistics() const {
  SessionCounts statistics = counts_;
  statistics.session_count = sessions_.size();
  statistics.ring_bytes = ring_bytes_;
  statistics.connected_count = sessions_.size() - waiting_.size();
  return statistics;
}

}  // namespace detail
}  // namespace corolane::rpc
