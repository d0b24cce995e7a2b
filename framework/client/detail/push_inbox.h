// SPDX-License-Identifier: MIT
// Hands what a session is pushed to the readers of it: by the type of the message, or by its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "coroutine/base/error.h"
#include "framework/client/detail/push_reader.h"
#include "rpc/client/push_sink.h"

namespace corolane::framework::detail {

class PushInbox final : public rpc::PushSink {
 public:
  // Messages of groups that nobody has followed yet, in all groups together.
  static constexpr std::size_t unclaimed_count_max = PushQueue::count_max;
  static constexpr std::size_t unclaimed_bytes_max = PushQueue::bytes_max;

  // `unfollow` tells the server that a group of the present session is not wanted any more.
  // `beside` sees everything first; it may be null, and outlives the inbox.
  PushInbox(std::function<void(std::uint32_t group)> unfollow, rpc::PushSink* beside)
      : unfollow_(std::move(unfollow)), beside_(beside) {}
  // Readers may outlive it.
  ~PushInbox();
  PushInbox(const PushInbox&) = delete;
  PushInbox& operator=(const PushInbox&) = delete;

  PushReader pushes(std::uint64_t type);
  // `group` is one of the present session.
  PushReader follow(std::uint32_t group, std::uint64_t type);
  // Ends all readers, and those to come until there is another session.
  void end(const Error& reason);
  // The same for ever, with unavailable.
  void close();

  void on_push(const rpc::Push& push) override;
  void on_repeated(std::uint64_t number) override;
  void on_gap(std::uint64_t lost_count) override;
  void on_group_gap(std::uint32_t group) override;
  void on_group_end(std::uint32_t group, const Error& reason) override;
  void on_session(bool is_resumed) override;
  void on_end(const Error& reason) override;

 private:
  friend class PushReader;
  using State = PushReader::State;

  // The reader goes.
  void leave(State& reader);
  // That of the group, which has no reader yet when there is none.
  State& state_of(std::uint32_t group);
  void take_news(std::uint32_t group, std::uint64_t type, PushQueue::Item item);
  void give_up_oldest();
  void give_up(std::uint32_t group);
  void lose_groups(const Error& reason);

  std::function<void(std::uint32_t)> unfollow_;
  rpc::PushSink* const beside_;
  std::unordered_set<State*> readers_;  // They read what is pushed to the session itself.
  std::unordered_map<std::uint32_t, State*> groups_;
  std::deque<std::unique_ptr<State>> unclaimed_;  // Groups without a reader, the oldest first.
  // Groups that were left or given up, and that the server has not ended yet.
  std::unordered_set<std::uint32_t> left_;
  bool had_session_ = false;
  bool is_closed_ = false;
  std::optional<Error> end_;
};

}  // namespace corolane::framework::detail
