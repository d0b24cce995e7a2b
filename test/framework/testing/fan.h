// SPDX-License-Identifier: MIT
// A client that follows one room over its session, and checks that it misses nothing unless it is
// told so, and that nothing comes twice or out of order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rpc/client/client.h"
#include "test/framework/room.h"

namespace corolane::sim {

class Fan final : public rpc::PushSink {
 public:
  void on_push(const rpc::Push& push) override {
    const auto event = push.as<test::RoomEvent>();
    if (!event) return complain("a push of another type");
    if (group_ == 0) {
      early_.push_back({.group = push.group, .number = event->number()});
    } else if (push.group == group_) {
      take(event->number());
    }
  }
  void on_gap(std::uint64_t) override { note_gap(); }
  void on_group_gap(std::uint32_t group) override {
    if (group == group_ || group_ == 0) note_gap();
  }
  void on_group_end(std::uint32_t group, const Error& reason) override {
    if (group != group_) return;
    last_end = reason.to_string();
    lose_group();
  }
  void on_session(bool is_resumed) override {
    ++(is_resumed ? resumed_count : begun_count);
    if (!is_resumed) lose_group();
  }
  void on_end(const Error& reason) override { complain("ended " + reason.to_string()); }

  // Asks for a group, unless it has one and knows the room. Suspends.
  Result<void> follow(rpc::Client& client, const std::string& room,
                      const rpc::CallOptions& options = {}) {
    if (group_ != 0 && !has_gap_) return {};
    if (group_ != 0) client.unfollow(group_);
    lose_group();
    test::WatchRequest request;
    request.set_room(room);
    const int session = begun_count;
    auto reply = test::WatchClient(client).follow(request, options);
    if (!reply) return std::move(reply.error());
    if (session != begun_count) return Error(Code::aborted, "the session is another one now");
    group_ = reply->group();
    has_gap_ = is_gap_early_;
    seen_ = reply->picture().said_count();
    for (const Early& early : std::exchange(early_, {})) {
      if (early.group == group_) take(early.number);
    }
    return {};
  }

  std::uint64_t seen() const { return seen_; }
  bool knows_all() const { return group_ != 0 && !has_gap_; }

  int begun_count = 0;
  int resumed_count = 0;
  int gap_count = 0;
  std::string last_end;
  std::vector<std::string> complaints;

 private:
  struct Early {
    std::uint32_t group;
    std::uint64_t number;
  };

  void take(std::uint64_t number) {
    if (number <= last_taken_) complain(text("comes twice, or too late", number));
    last_taken_ = number;
    if (number <= seen_) return;  // The picture includes it.
    if (number != seen_ + 1 && !has_gap_) complain(text("comes behind a hole", number));
    seen_ = number;
  }
  std::string text(const char* what, std::uint64_t number) const {
    return std::to_string(number) + " " + what + ", after " + std::to_string(seen_);
  }
  void note_gap() {
    ++gap_count;
    has_gap_ = true;
    is_gap_early_ = true;
  }
  void lose_group() {
    group_ = 0;
    early_.clear();
    is_gap_early_ = false;
    last_taken_ = 0;
  }
  void complain(std::string what) { complaints.push_back(std::move(what)); }

  std::uint32_t group_ = 0;
  std::uint64_t seen_ = 0;        // The number of the last message that it knows.
  std::uint64_t last_taken_ = 0;  // And of the last one of the group.
  bool has_gap_ = false;
  bool is_gap_early_ = false;  // Before the reply that names the group.
  std::vector<Early> early_;
};

}  // namespace corolane::sim
