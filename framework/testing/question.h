// SPDX-License-Identifier: MIT
// A host's calls to a server of the simulation. The request and the reply are messages; each may be
// delayed or lost.
//
//   Line line(fabric, client, server);
//   auto value = line.ask<int>(deadline, [] { return Result<int>(look_up()); });
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coroutine/base/deadline.h"
#include "coroutine/base/result.h"
#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "framework/testing/fabric.h"
#include "framework/testing/host.h"

namespace corolane::sim {

// A connection of one host to one server that keeps messages in order. Messages in flight may
// outlive it.
class Line {
 public:
  Line(Fabric& fabric, Host& client, Host& server)
      : way_(std::make_shared<Way>(fabric, client, server)) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Host& client() const { return way_->client; }

  // Runs `serve` in a task of the server and returns its result. Called by a task of the client;
  // suspends. Fails as `serve` does, and with maybe_executed when no answer arrives before the
  // deadline.
  template <typename T>
  Result<T> ask(Deadline deadline, std::function<Result<T>()> serve) {
    if (!client().is_alive()) return Error(Code::unavailable, "the process ends");
    if (coroutine::is_cancelled()) return Error(Code::cancelled, "cancelled before it was asked");
    if (deadline.has_passed()) {
      return Error(Code::deadline_exceeded, "the deadline passed before it was asked");
    }
    struct Question {
      coroutine::Event answered{"the answer of a server"};
      std::optional<Result<T>> answer = {};
    };
    const auto question = std::make_shared<Question>();
    const auto work = [way = way_, question, serve = std::move(serve), life = client().life()] {
      Result<T> answer = serve();
      if (way->client.life() != life) return;
      way->fabric.carry(way->server, way->client, back_of(way),
                        [question, answer = std::move(answer)]() mutable {
                          question->answer = std::move(answer);
                          question->answered.set();
                        });
    };
    say([way = way_, work] { way->server.spawn("request", work); });
    if (auto waited = question->answered.wait(deadline); !waited) {
      return Error(waited.error().code(), "no answer from " + way_->server.name())
          .with_maybe_executed();
    }
    return *std::move(question->answer);
  }

  // Sends a message without an answer to the server: `work` runs on its loop.
  void say(std::move_only_function<void()> work) {
    way_->fabric.carry(way_->client, way_->server, std::shared_ptr<TimePoint>(way_, &way_->there),
                       std::move(work));
  }
  // Sends a message from the server to the client, unasked.
  void tell(std::move_only_function<void()> work) {
    way_->fabric.carry(way_->server, way_->client, back_of(way_), std::move(work));
  }

 private:
  struct Way {
    Fabric& fabric;
    Host& client;
    Host& server;
    TimePoint there{};
    TimePoint back{};
  };

  static std::shared_ptr<TimePoint> back_of(const std::shared_ptr<Way>& way) {
    return {way, &way->back};
  }

  const std::shared_ptr<Way> way_;
};

}  // namespace corolane::sim
