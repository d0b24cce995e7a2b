// SPDX-License-Identifier: MIT
#include "rpc/server/detail/admission.h"

#include <algorithm>
#include <chrono>

namespace corolane::rpc::detail {
namespace {

// How much work may have a stack before it has begun.
constexpr Duration beginning_time = std::chrono::milliseconds(1);
constexpr Duration least_pace = std::chrono::nanoseconds(1);
// The number of calls that the pace averages over.
constexpr int pace_memory = 16;
// A time is believed up to this, or up to this many times the pace.
constexpr Duration believed_time = std::chrono::milliseconds(1);
constexpr int believed_ratio = 8;

}  // namespace

Admission::Verdict Admission::judge(Priority priority, const Share& connection, const Share& method,
                                    std::size_t beginning_count, Deadline deadline,
                                    TimePoint now) const {
  if (waiting_count_ == 0) return {};
  const std::size_t before = waiting_up_to(priority) + beginning_count;
  const Duration delay = pace_ * static_cast<Duration::rep>(before);
  const Verdict refused{.is_admitted = false, .delay = delay};
  if (waiting_count_ >= options_.waiting_max) return refused;
  // A call that has used up most of its time before it begins would end in vain.
  if (!deadline.is_never() && delay >= (deadline.time() - now) / 2) return refused;
  if (priority == Priority::control) return {.delay = delay};

  const Duration allowed =
      class_of(priority).is_overloaded ? options_.delay_target : options_.delay_max;
  if (delay <= allowed / 2) return {.delay = delay};
  const auto places = static_cast<std::size_t>(allowed / std::max(pace_, least_pace));
  const auto is_above_share = [&](const Share& share, std::size_t holder_count) {
    return share.waiting_count > 0 &&
           share.waiting_count >= places / std::max<std::size_t>(holder_count, 1);
  };
  if (is_above_share(connection, waiting_connection_count_)) return refused;
  if (waiting_method_count_ > 1 && is_above_share(method, waiting_method_count_)) return refused;
  const Duration longest = connection.waiting_count == 0 ? allowed * 3 / 2 : allowed;
  return delay <= longest ? Verdict{.delay = delay} : refused;
}

void Admission::waits(Priority priority, Share& connection, Share& method) {
  ++waiting_count_;
  ++classes_[static_cast<std::size_t>(priority)].waiting_count;
  if (connection.waiting_count++ == 0) ++waiting_connection_count_;
  if (method.waiting_count++ == 0) ++waiting_method_count_;
}

void Admission::leaves(Priority priority, Share& connection, Share& method) {
  --waiting_count_;
  --classes_[static_cast<std::size_t>(priority)].waiting_count;
  if (--connection.waiting_count == 0) --waiting_connection_count_;
  if (--method.waiting_count == 0) --waiting_method_count_;
}

void Admission::note_wait(Priority priority, TimePoint arrived_at, TimePoint now) {
  Class& own = classes_[static_cast<std::size_t>(priority)];
  if (now >= own.interval_end) {
    // An interval in which no call began says nothing.
    if (own.shortest_wait != Duration::max()) {
      own.is_overloaded = own.shortest_wait > options_.delay_target;
    }
    own.shortest_wait = Duration::max();
    own.interval_end = now + options_.interval;
  }
  own.shortest_wait = std::min(own.shortest_wait, now - arrived_at);
  if (own.waiting_count > 0) return;
  own.shortest_wait = Duration::zero();
  own.is_overloaded = false;
}

void Admission::note_begun(TimePoint now, bool is_backlog) {
  if (was_backlog_) {
    const Duration believed = std::max(believed_time, pace_ * believed_ratio);
    pace_ += (std::min(now - last_begun_at_, believed) - pace_) / pace_memory;
    constexpr Duration quick = beginning_time / beginning_most;
    beginning_max_ = pace_ <= quick ? beginning_most
                                    : std::max(static_cast<std::size_t>(beginning_time / pace_),
                                               beginning_least);
  }
  was_backlog_ = is_backlog;
  last_begun_at_ = now;
}

std::size_t Admission::waiting_up_to(Priority priority) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(priority); ++i) {
    count += classes_[i].waiting_count;
  }
  return count;
}

}  // namespace corolane::rpc::detail
