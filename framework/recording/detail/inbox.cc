// SPDX-License-Identifier: MIT
#include "framework/recording/detail/inbox.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "framework/recording/detail/messages.h"

namespace corolane::framework::recording {
namespace {

// Lines of a trace are cut to this size.
constexpr std::size_t line_size_max = 400;

// Mixes a message into a running hash.
void mix(std::uint64_t& hash, const google::protobuf::MessageLite& message) {
  hash = (hash ^ std::hash<std::string>()(message.SerializeAsString())) * 0x9fb21c651e98df25;
  hash ^= hash >> 32;
}

}  // namespace

TimePoint Inbox::now() const {
  last_time_ = TimePoint(Duration(feed_.read(Entry::kTime)));
  if (first_time_ == TimePoint{}) first_time_ = last_time_;
  return last_time_;
}

TimePoint Inbox::boot_time() const { return TimePoint(Duration(feed_.read(Entry::kBootTime))); }

std::chrono::sys_time<Duration> Inbox::time_of_day() const {
  return std::chrono::sys_time<Duration>(Duration(feed_.read(Entry::kTimeOfDay)));
}

pid_t Inbox::process_id() const { return static_cast<pid_t>(feed_.read(Entry::kProcessId)); }

bool Inbox::draw(std::span<std::byte> bytes) const {
  feed_.draw(bytes);
  return true;
}

bool Inbox::wait(Deadline deadline) {
  if (network_ != nullptr) network_->end_turn();
  const auto arrivals = feed_.turn(std::exchange(asks_, {}), asked_hash_, deadline);
  ++turn_count_;
  for (const Arrival& arrival : arrivals) {
    ++arrival_count_;
    mix(arrived_hash_, arrival);
    if (trace_ != nullptr) note("gets", arrival);
    arrive(arrival);
  }
  return true;
}

Listening Inbox::listen(const Ask& ask) {
  note_ask(ask);
  // Earlier requests go first, such as closing a listener on the same address.
  return feed_.listen(std::exchange(asks_, {}), ask, asked_hash_);
}

void Inbox::ask(Ask ask) {
  note_ask(ask);
  asks_.push_back(std::move(ask));
}

void Inbox::note_ask(const Ask& ask) {
  mix(asked_hash_, ask);
  if (trace_ != nullptr) note("asks", ask);
}

Result<Arrival> Inbox::call(Ask ask, Deadline deadline) {
  Call call;
  const std::uint64_t id = new_id();
  calls_.emplace(id, &call);
  ask.set_call(id);
  this->ask(std::move(ask));
  auto waited = call.answered.wait(deadline);
  calls_.erase(id);
  if (call.answer) {
    if (call.answer->has_failure()) return to_error(call.answer->failure());
    return *std::move(call.answer);
  }
  Ask give_up;
  give_up.set_give_up(id);
  this->ask(std::move(give_up));
  return std::move(waited.error());
}

Result<framework::detail::StopSignal::Arrival> Inbox::wait_for_signal() {
  if (auto waited = signalled_.wait(Deadline::never()); !waited) return waited.error();
  return framework::detail::StopSignal::Arrival{.number = signal_->number(),
                                                .time = TimePoint(Duration(signal_->time()))};
}

void Inbox::arrive(const Arrival& arrival) {
  if (arrival.has_signal()) {
    signal_ = arrival.signal();
    return signalled_.set();
  }
  if (arrival.call() == 0) {
    if (network_ != nullptr) network_->arrive(arrival);
    return;
  }
  // A call that was given up has been removed.
  const auto found = calls_.find(arrival.call());
  if (found == calls_.end()) return;
  found->second->answer = arrival;
  found->second->answered.set();
}

void Inbox::note(const char* what, const google::protobuf::Message& message) const {
  std::string text = message.ShortDebugString();
  if (text.size() > line_size_max) text = text.substr(0, line_size_max) + " ...";
  std::fprintf(trace_, "%12.6f turn %-6llu %s %s\n",
               std::chrono::duration<double>(elapsed()).count(),
               static_cast<unsigned long long>(turn_count_), what, text.c_str());
}

}  // namespace corolane::framework::recording
