// SPDX-License-Identifier: MIT
// What a client is pushed over its session (rpc/session.h).
//
//   class Board final : public rpc::PushSink {
//    public:
//     void on_push(const rpc::Push& push) override {
//       if (const auto moved = push.as<Moved>()) show(*moved);
//     }
//     void on_gap(std::uint64_t) override { needs_refresh_ = true; }
//     void on_session(bool is_resumed) override {
//       if (!is_resumed) needs_refresh_ = true;
//     }
//   };
//
//   Board board;
//   rpc::Client client(network, {"127.0.0.1", 8460}, {.pushes = &board});
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "coroutine/base/error.h"

namespace corolane::rpc {

// Valid during the call that it is passed to.
struct Push {
  std::uint64_t number = 0;  // Counts the pushes of the session, from 1.
  std::uint64_t type = 0;    // The hash of the name of its message.
  std::uint32_t group = 0;   // The group that it is news of (Session::follow()); 0: none.
  std::span<const std::byte> bytes = {};

  // The message; nothing when it is of another type, or malformed.
  template <typename T>
  std::optional<T> as() const {
    T message;
    if (type != type_of(message)) return std::nullopt;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return std::nullopt;
    return message;
  }

  // The hash of the name of that message.
  static std::uint64_t type_of(const google::protobuf::MessageLite& message);
};

// Its methods run on the loop's stack: they must not suspend, and may not destroy the client.
class PushSink {
 public:
  // Each push of a session comes once, in order; and what is kept for a user comes once over all
  // sessions, as long as the client is of that user.
  virtual void on_push(const Push& push) = 0;
  // So many pushes are lost, of any group or none, the end of a group among them: the client was
  // away for too long, or reads too slowly.
  virtual void on_gap(std::uint64_t lost_count) = 0;
  // A push whose sender keeps it has come again over a new session, and is ignored: the client had
  // received it over the former one.
  virtual void on_repeated(std::uint64_t number) { static_cast<void>(number); }
  // News of that group are lost, since it has moved or the client reads too slowly.
  virtual void on_group_gap(std::uint32_t group) { static_cast<void>(group); }
  // The group has ended; cancelled after Client::unfollow(). All groups of a session end with it
  // without this.
  virtual void on_group_end(std::uint32_t group, const Error& reason) {
    static_cast<void>(group);
    static_cast<void>(reason);
  }
  // There is a connection: with the session of the last one, or with a new one, whose pushes begin
  // at 1; what was pushed meanwhile over the former session is lost.
  virtual void on_session(bool is_resumed) = 0;
  // The client does not connect any more by itself: the server has ended the session, or refuses
  // it. A later call tries again.
  virtual void on_end(const Error& reason) { static_cast<void>(reason); }

 protected:
  ~PushSink() = default;
};

}  // namespace corolane::rpc
