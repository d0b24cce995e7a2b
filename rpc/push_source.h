// SPDX-License-Identifier: MIT
// What the clients of many sessions are pushed alike: the news of a room, of a market, of a match.
//
//   // The hits of a match, in order.
//   class Hits final : public rpc::PushSource {
//    public:
//     explicit Hits(Match& match) : match_(match), next_(match.hits.size()) {}
//     ~Hits() override { match_.notes.erase(this); }
//     Result<std::optional<rpc::News>> poll() override {
//       if (next_ == match_.hits.size()) return std::optional<rpc::News>();
//       return std::optional(rpc::News::of(match_.hits[next_++]));
//     }
//     void when_readable(std::function<void()> note) override {
//       if (next_ < match_.hits.size()) return note();
//       match_.notes[this] = std::move(note);
//     }
//     std::string record() const override { return {}; }
//
//    private:
//     Match& match_;
//     std::size_t next_;
//   };
//
//   auto group = session->follow(std::make_unique<Hits>(match));
//
// A session reads its sources as fast as its client acknowledges: one that is slow has them wait,
// and makes no other session wait. What an object publishes is such a source: framework/edge/.
#pragma once

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coroutine/base/result.h"

namespace corolane::rpc {

struct News {
  std::uint64_t type = 0;                    // The hash of the name of its message.
  std::shared_ptr<const std::string> bytes;  // Shared by all sessions; null: some are lost.

  bool is_gap() const { return bytes == nullptr; }
  static News of(const google::protobuf::MessageLite& message);
};

// Belongs to the thread of its session. None of its methods suspends.
class PushSource {
 public:
  virtual ~PushSource() = default;

  // The next news; nothing when there is none yet. An error is final: nothing comes any more, and
  // the client is told why.
  virtual Result<std::optional<News>> poll() = 0;
  // Calls `note` once, as soon as poll() may give something: at once if it would. It may be called
  // while the source changes, and calls nothing of it. It is not called after the source is
  // destroyed.
  virtual void when_readable(std::function<void()> note) = 0;
  // From which SessionRegistry::follow_again() makes the source where the session has moved, so
  // that it continues behind what poll() has given.
  virtual std::string record() const = 0;
};

}  // namespace corolane::rpc
