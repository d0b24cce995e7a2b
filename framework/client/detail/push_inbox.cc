// SPDX-License-Identifier: MIT
#include "framework/client/detail/push_inbox.h"

#include <algorithm>
#include <string>

namespace corolane::framework::detail {
namespace {

Error former_session() {
  return Error(Code::aborted, "the session is a new one, without its groups: follow again");
}

Error given_up() {
  return Error(Code::aborted, "the group was given up, since it was followed too late, or left");
}

Error of_another_type() {
  return Error(Code::invalid_argument, "what the group publishes is of another type");
}

}  // namespace

PushInbox::~PushInbox() { close(); }

void PushInbox::close() {
  if (std::exchange(is_closed_, true)) return;
  end(Error(Code::unavailable, "the client was closed"));
}

PushReader PushInbox::pushes(std::uint64_t type) {
  auto state = std::make_unique<State>(0, type);
  if (end_) {
    state->queue.end(*end_);
    return PushReader(std::move(state));
  }
  state->inbox = this;
  readers_.insert(state.get());
  return PushReader(std::move(state));
}

PushReader PushInbox::follow(std::uint32_t group, std::uint64_t type) {
  auto state = std::make_unique<State>(group, type);
  if (end_) {
    state->queue.end(*end_);
  } else if (group == 0) {
    state->queue.end(Error(Code::invalid_argument, "0 is not the number of a group"));
  } else if (left_.contains(group)) {
    state->queue.end(given_up());
  } else if (groups_.contains(group)) {
    state->queue.end(Error(Code::failed_precondition, "the group has a reader already"));
  } else {
    const auto early = std::ranges::find(unclaimed_, group, &State::group);
    if (early != unclaimed_.end()) {
      std::unique_ptr<State> found = std::move(*early);
      unclaimed_.erase(early);
      if (found->type != 0 && found->type != type) {
        state->queue.end(of_another_type());
        if (!found->queue.has_ended()) give_up(group);
      } else {
        state = std::move(found);
        state->type = type;
      }
    }
    if (!state->queue.has_ended()) {
      state->inbox = this;
      groups_.emplace(group, state.get());
    }
  }
  return PushReader(std::move(state));
}

void PushInbox::leave(State& reader) {
  if (reader.group == 0) {
    readers_.erase(&reader);
  } else {
    groups_.erase(reader.group);
    give_up(reader.group);
  }
}

void PushInbox::give_up(std::uint32_t group) {
  left_.insert(group);
  unfollow_(group);
}

PushInbox::State& PushInbox::state_of(std::uint32_t group) {
  if (const auto found = groups_.find(group); found != groups_.end()) return *found->second;
  const auto found = std::ranges::find(unclaimed_, group, &State::group);
  if (found != unclaimed_.end()) return **found;
  return *unclaimed_.emplace_back(std::make_unique<State>(group, 0));
}

void PushInbox::take_news(std::uint32_t group, std::uint64_t type, PushQueue::Item item) {
  if (left_.contains(group)) return;
  State& state = state_of(group);
  if (item && state.type == 0) state.type = type;
  if (item && state.type != type) {
    state.queue.end(of_another_type());
    return;
  }
  state.queue.add(std::move(item));
  give_up_oldest();
}

// The last one that is left is as full as its queue lets it be.
void PushInbox::give_up_oldest() {
  const auto is_full = [&] {
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (const auto& state : unclaimed_) {
      // One that has ended without any news counts, too.
      count += std::max<std::size_t>(state->queue.count(), 1);
      bytes += state->queue.bytes();
    }
    return count > unclaimed_count_max || bytes > unclaimed_bytes_max;
  };
  while (unclaimed_.size() > 1 && is_full()) {
    const State& oldest = *unclaimed_.front();
    // Also one that has ended is not followed any more.
    if (oldest.queue.has_ended()) {
      left_.insert(oldest.group);
    } else {
      give_up(oldest.group);
    }
    unclaimed_.pop_front();
  }
}

void PushInbox::on_push(const rpc::Push& push) {
  if (beside_ != nullptr) beside_->on_push(push);
  const auto bytes = [&] {
    return std::string(reinterpret_cast<const char*>(push.bytes.data()), push.bytes.size());
  };
  if (push.group != 0) return take_news(push.group, push.type, bytes());
  for (State* const reader : readers_) {
    if (reader->type == push.type) reader->queue.add(bytes());
  }
}

void PushInbox::on_repeated(std::uint64_t number) {
  if (beside_ != nullptr) beside_->on_repeated(number);
}

void PushInbox::on_gap(std::uint64_t lost_count) {
  if (beside_ != nullptr) beside_->on_gap(lost_count);
  for (State* const reader : readers_) reader->queue.add(std::nullopt);
  for (const auto& [group, reader] : groups_) reader->queue.add(std::nullopt);
  for (const auto& state : unclaimed_) state->queue.add(std::nullopt);
}

void PushInbox::on_group_gap(std::uint32_t group) {
  if (beside_ != nullptr) beside_->on_group_gap(group);
  take_news(group, 0, std::nullopt);
}

void PushInbox::on_group_end(std::uint32_t group, const Error& reason) {
  if (beside_ != nullptr) beside_->on_group_end(group, reason);
  if (left_.erase(group) > 0) return;
  State& state = state_of(group);
  state.queue.end(reason);
  state.inbox = nullptr;
  groups_.erase(group);
  give_up_oldest();
}

void PushInbox::on_session(bool is_resumed) {
  if (beside_ != nullptr) beside_->on_session(is_resumed);
  if (is_closed_) return;
  end_.reset();
  if (is_resumed) return;
  lose_groups(former_session());
  if (std::exchange(had_session_, true)) {
    for (State* const reader : readers_) reader->queue.add(std::nullopt);
  }
}

void PushInbox::on_end(const Error& reason) {
  if (beside_ != nullptr) beside_->on_end(reason);
  end(reason);
}

void PushInbox::end(const Error& reason) {
  end_ = reason;
  for (State* const reader : std::exchange(readers_, {})) {
    reader->inbox = nullptr;
    reader->queue.end(reason);
  }
  lose_groups(reason);
}

void PushInbox::lose_groups(const Error& reason) {
  for (const auto& [group, reader] : std::exchange(groups_, {})) {
    reader->inbox = nullptr;
    reader->queue.end(reason);
  }
  unclaimed_.clear();
  left_.clear();
}

}  // namespace corolane::framework::detail
