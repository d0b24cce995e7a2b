// SPDX-License-Identifier: MIT
// A session: what is kept for a client, and what its connection is sent.
#include "rpc/session.h"

#include <algorithm>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/deadline.h"
#include "coroutine/scheduler.h"
#include "rpc/server/detail/seeded_bugs.h"
#include "rpc/server/detail/session_groups.h"
#include "rpc/server/detail/session_table.h"
#include "rpc/session_moves.pb.h"
#include "rpc/session_registry.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/wire.pb.h"

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

// A client with fewer pushes than this to acknowledge keeps up.
constexpr std::size_t few_pushes = 8;

std::size_t size_of(const Session::Pushed& push) {
  return (push.is_lost() ? 0 : push.bytes->size()) + push_overhead_bytes;
}

std::shared_ptr<const std::string> shared(std::string bytes) {
  return std::make_shared<const std::string>(std::move(bytes));
}

}  // namespace

Session::Session(detail::SessionTable& table, std::uint64_t number, std::string secret,
                 Principal principal)
    : Timer([](Timer& timer) { static_cast<Session&>(timer).on_time(); }),
      table_(&table),
      number_(number),
      secret_(std::move(secret)),
      principal_(std::move(principal)),
      calls_(table.options_.calls_per_second_max),
      bytes_(table.options_.bytes_per_second_max) {}

Session::~Session() { check(ended_by_.has_value(), "a session ends before it is destroyed"); }

Session::Statistics Session::statistics() const {
  return {.call_count = call_count_,
          .received_bytes = received_bytes_,
          .pushed_count = last_number_,
          .acknowledged_number = acknowledged_number_,
          .lost_count = lost_count_,
          .resumed_count = attached_count_ == 0 ? 0 : attached_count_ - 1,
          .ring_count = ring_.size(),
          .ring_bytes = ring_bytes_,
          .group_count = groups_ == nullptr ? 0 : groups_->size(),
          .begun_at = begun_at_};
}

std::vector<std::string> Session::followed() const {
  return groups_ == nullptr ? std::vector<std::string>() : groups_->records();
}

SessionRecord Session::record() {
  const TimePoint time = now();
  SessionRecord record;
  record.set_number(number_);
  record.set_age_milliseconds(static_cast<std::uint64_t>(
      std::chrono::floor<std::chrono::milliseconds>(time - begun_at_).count()));
  record.set_resumed_count(attached_count_ == 0 ? 0 : attached_count_ - 1);
  record.set_lost_count(lost_count_);
  record.set_last_number(last_number_);
  record.set_stamp_epoch(last_stamp_.epoch);
  record.set_stamp_source(last_stamp_.source);
  record.set_stamp_sequence(last_stamp_.sequence);
  record.set_last_kept_number(last_kept_number_);
  record.set_move_count(move_count_);
  record.set_dropped_number(dropped_.number);
  record.set_dropped_kept_number(dropped_.kept_number);
  record.set_acknowledged_number(acknowledged_number_);
  for (const Pushed& push : ring_) {
    PushRecord& kept = *record.add_pushes();
    kept.set_type(push.type);
    if (!push.is_lost()) kept.set_message(*push.bytes);
    kept.set_group(push.group);
    kept.set_kept_number(push.kept_number);
    kept.set_mailbox(push.mailbox);
    kept.set_is_lost(push.is_lost());
  }
  if (groups_ != nullptr) groups_->add_to(record);
  record.set_call_balance(calls_.take(0, time));
  record.set_byte_balance(bytes_.take(0, time));
  return record;
}

void Session::take_over(const SessionRecord& record) {
  const TimePoint time = now();
  begun_at_ = time - std::chrono::milliseconds(record.age_milliseconds());
  attached_count_ = record.resumed_count() + 1;
  lost_count_ = record.lost_count();
  last_number_ = record.last_number();
  last_stamp_ = {.epoch = record.stamp_epoch(),
                 .source = record.stamp_source(),
                 .sequence = record.stamp_sequence()};
  last_kept_number_ = record.last_kept_number();
  dropped_ = {.number = record.dropped_number(), .kept_number = record.dropped_kept_number()};
  move_count_ = record.move_count() + 1;
  acknowledged_number_ = record.acknowledged_number();
  std::uint64_t number = last_number_ - static_cast<std::uint64_t>(record.pushes_size());
  for (const PushRecord& kept : record.pushes()) {
    ring_.push_back({.number = ++number,
                     .type = kept.type(),
                     .bytes = kept.is_lost() ? nullptr : shared(kept.message()),
                     .group = kept.group(),
                     .kept_number = kept.kept_number(),
                     .mailbox = kept.mailbox()});
    ring_bytes_ += size_of(ring_.back());
  }
  table_->ring_bytes_ += ring_bytes_;
  calls_.set_balance(record.call_balance(), time);
  bytes_.set_balance(record.byte_balance(), time);
  if (record.last_group() > 0) groups().take_over(record, *table_->registry_);
}

Result<void> Session::push(const google::protobuf::MessageLite& message) {
  return append(
      {.type = method_id(message.GetTypeName()), .bytes = shared(message.SerializeAsString())});
}

Result<void> Session::push(std::uint64_t type, std::string bytes) {
  return append({.type = type, .bytes = shared(std::move(bytes))});
}

Result<void> Session::push_kept(std::uint64_t mailbox, std::uint64_t kept_number,
                                std::uint64_t type, std::string bytes) {
  if (kept_number <= last_kept_number_) return {};
  auto pushed = append({.type = type,
                        .bytes = shared(std::move(bytes)),
                        .kept_number = kept_number,
                        .mailbox = mailbox});
  // One that is too large is lost, and told as such: it does not hold up those behind it.
  if (!pushed && !ended_by_) pushed = append({.kept_number = kept_number});
  if (pushed) last_kept_number_ = kept_number;
  return pushed;
}

Result<void> Session::lose() { return append({}); }

detail::SessionGroups& Session::groups() {
  if (groups_ == nullptr) groups_ = std::make_unique<detail::SessionGroups>(*table_, *this);
  return *groups_;
}

Result<std::uint32_t> Session::follow(std::unique_ptr<PushSource> source) {
  if (ended_by_) return ended_error();
  return groups().follow(std::move(source));
}

void Session::unfollow(std::uint32_t group) {
  // The client may not know of an end.
  if (groups_ == nullptr || !groups_->unfollow(group)) return;
  const News end = detail::SessionGroups::end_of(Error(Code::cancelled, "unfollowed"));
  static_cast<void>(append({.type = end.type, .bytes = end.bytes, .group = group}));
}

bool Session::has_room_for_news() const {
  const SessionOptions& options = table_->options_;
  if (ring_.size() >= std::max<std::size_t>(1, options.ring_count_max / 2)) return false;
  if (ring_bytes_ >= options.ring_bytes_max / 2) return false;
  const std::size_t bytes = table_->ring_bytes_;
  if (bytes < options.bytes_max / 2) return true;
  // The rings are half full of what other clients do not acknowledge.
  return socket_ != nullptr &&
         (ring_.empty() || (ring_.size() < few_pushes && bytes < options.bytes_max / 4 * 3));
}

void Session::read_groups() {
  static const News gap = News::of(GroupGap());
  while (groups_ != nullptr && has_room_for_news()) {
    auto next = groups_->poll();
    if (!next) return;
    const std::uint32_t group = next->group;
    // News that would take other pushes their place are lost.
    const bool is_gap =
        next->news.is_gap() || next->news.bytes->size() > table_->options_.ring_bytes_max / 2;
    const News& news = is_gap ? gap : next->news;
    static_cast<void>(append({.type = news.type, .bytes = news.bytes, .group = group}));
    if (ended_by_) return;
    ++(is_gap ? table_->counts_.group_gap_count : table_->counts_.group_push_count);
  }
}

Error Session::ended_error() const {
  return Error(Code::unavailable, "the session has ended: " + ended_by_->message());
}

Result<void> Session::append(Pushed push) {
  if (ended_by_) return ended_error();
  const SessionOptions& options = table_->options_;
  const std::size_t size = size_of(push);
  if (size > options.ring_bytes_max) {
    return above_limit("a push", size - push_overhead_bytes,
                       options.ring_bytes_max - push_overhead_bytes);
  }
  push.number = ++last_number_;
  ring_bytes_ += size;
  table_->ring_bytes_ += size;
  ring_.push_back(std::move(push));
  send_rest();
  while (ring_.size() > options.ring_count_max || ring_bytes_ > options.ring_bytes_max ||
         (table_->ring_bytes_ > options.bytes_max && !ring_.empty())) {
    if (ring_.front().kept_number != 0) {
      dropped_ = {.number = ring_.front().number, .kept_number = ring_.front().kept_number};
    }
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
  std::uint64_t kept_number = 0;
  if (dropped_.number <= number) kept_number = std::exchange(dropped_, {}).kept_number;
  while (!ring_.empty() && ring_.front().number <= number) {
    kept_number = std::max(kept_number, ring_.front().kept_number);
    drop_oldest();
  }
  acknowledged_number_ = std::max(acknowledged_number_, number);
  if (kept_number != 0 && is_announced_) table_->registry_->acknowledged(*this, kept_number);
}

// Sends the pushes that the connection has not been sent, as far as there is room.
void Session::send_rest() {
  if (socket_ == nullptr) return;
  while (sent_number_ < last_number_) {
    const std::uint64_t next = ring_.empty() ? last_number_ + 1 : ring_.front().number;
    if (next > sent_number_ + 1) {
      if (!COROLANE_SESSION_BUG(gap_not_told) && !socket_->send_gap(next - 1)) break;
      const std::uint64_t lost_count = next - 1 - sent_number_;
      lost_count_ += lost_count;
      table_->counts_.lost_push_count += lost_count;
      sent_number_ = next - 1;
      continue;
    }
    const Pushed& push = ring_[static_cast<std::size_t>(sent_number_ + 1 - next)];
    if (push.is_lost()) {
      if (!socket_->send_gap(push.number)) break;
      ++lost_count_;
      ++table_->counts_.lost_push_count;
    } else if (!socket_->send_push(push)) {
      break;
    }
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
  if (socket_ != nullptr && !COROLANE_SESSION_BUG(two_live_sockets)) {
    std::exchange(socket_, nullptr)
        ->leave(Error(Code::aborted, "another connection has resumed this session"),
                /*has_moved=*/true);
  }
  end_waiting();
  ++attached_count_;
  socket_ = &socket;
  if (COROLANE_SESSION_BUG(ring_without_acknowledgement)) {
    received_number = std::max(received_number, sent_number_);
  }
  forget_through(received_number);
  sent_number_ = received_number;
  send_rest();
  read_groups();
  return {};
}

void Session::detach(const Socket& socket, bool is_known) {
  if (socket_ != &socket) return;
  socket_ = nullptr;
  if (!is_known && !is_announced_ && last_number_ == 0 && groups_ == nullptr &&
      end_functions_.empty()) {
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
  read_groups();
  return {};
}

Session::Judgement Session::judge(std::size_t call_count, std::size_t bytes, TimePoint time) {
  call_count_ += call_count;
  received_bytes_ += bytes;
  calls_.take(static_cast<double>(call_count), time);
  bytes_.take(static_cast<double>(bytes), time);
  const double debt = std::max(calls_.debt_seconds(), bytes_.debt_seconds());
  if (debt == 0) return {};
  // A client may still be served when its session has ended, or has moved.
  SessionCounts unwatched;
  SessionCounts& counts = table_ == nullptr ? unwatched : table_->counts_;
  if (debt > flood_debt_seconds) {
    ++counts.flooded_count;
    return {.verdict = Verdict::disconnect};
  }
  const auto pause = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(debt));
  if (debt > refusal_debt_seconds && call_count > 0) {
    ++counts.limited_count;
    return {.verdict = Verdict::refuse, .pause = pause};
  }
  ++counts.slowed_count;
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
  table_->remember_end(*this, reason);
  end(reason);
}

void Session::end(const Error& reason, bool has_moved) {
  if (ended_by_) return;
  ended_by_ = reason;
  end_waiting();
  while (!ring_.empty()) drop_oldest();
  groups_.reset();
  // The table's reference may be the last one.
  detail::SessionTable& table = *std::exchange(table_, nullptr);
  const auto found = table.sessions_.find(secret_);
  const std::shared_ptr<Session> self = std::move(found->second);
  table.sessions_.erase(found);
  table.by_number_.erase(number_);
  if (is_announced_) table.registry_->ended(*this, reason);
  if (socket_ != nullptr) std::exchange(socket_, nullptr)->leave(reason, has_moved);
  for (const auto& function : std::exchange(end_functions_, {})) function(reason);
}

void Session::on_end(std::function<void(const Error& reason)> function) {
  if (ended_by_) return function(*ended_by_);
  end_functions_.push_back(std::move(function));
}

}  // namespace corolane::rpc
