// SPDX-License-Identifier: MIT
// The objects of room.proto, and the service that forwards their publications to clients.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "coroutine/sync/event.h"
#include "coroutine/task.h"
#include "framework/edge/follow.h"
#include "test/framework/room.corolane.h"

namespace corolane::test {

inline SayRequest say_request(const std::string& text, std::uint32_t times = 1) {
  SayRequest request;
  request.set_text(text);
  request.set_times(times);
  return request;
}

class Room : public RoomObject {
 public:
  Result<void> on_activate() override {
    if (id().starts_with("no ")) return Error(Code::not_found, "there is no such room");
    return {};
  }
  Result<RoomPicture> say(const SayRequest& request, rpc::Context&) override {
    const std::uint32_t times = std::max(request.times(), 1U);
    for (std::uint32_t i = 0; i < times; ++i) {
      change().set_said_count(state().said_count() + 1);
      RoomEvent event;
      event.set_number(state().said_count());
      event.set_text(request.text());
      publish(std::move(event));
      if (i > 0) continue;
      if (auto paused = pause(request); !paused) return paused.error();
    }
    return picture();
  }
  Result<RoomPicture> say_for_good(const SayRequest& request, rpc::Context& context) override {
    return say(request, context);
  }
  Result<RoomPicture> look(const LookRequest&, rpc::Context&) const override { return picture(); }

 private:
  Result<void> pause(const SayRequest& request) {
    if (request.pause_milliseconds() == 0) return {};
    const std::chrono::milliseconds duration(request.pause_milliseconds());
    if (!request.waits_outside()) return coroutine::sleep_for(duration);
    coroutine::Event never("something that does not happen");
    const auto waited = outside([&] { return never.wait(Deadline::after(duration)); });
    return waited.error().code() == Code::deadline_exceeded ? Result<void>() : waited;
  }
  RoomPicture picture() const {
    RoomPicture picture;
    picture.set_said_count(state().said_count());
    picture.set_epoch(position().epoch);
    picture.set_sequence(position().sequence);
    return picture;
  }
};

class Listener : public ListenerObject {
 public:
  Result<ListenReply> listen(const ListenRequest& request, rpc::Context&) override {
    auto following =
        follow(RoomClient(router(), request.room()).subscribe(),
               [this, request](const Result<framework::Publication<RoomEvent>>& event) {
                 hear(event, request);
               });
    if (!following) return following.error();
    rooms_[request.room()] = *std::move(following);
    return reply();
  }
  // Leaves a change of the state to store.
  Result<ListenReply> listen_for_good(const ListenRequest& request,
                                      rpc::Context& context) override {
    static_cast<void>(change());
    return listen(request, context);
  }
  Result<ListenReply> leave(const ListenRequest& request, rpc::Context&) override {
    rooms_.erase(request.room());
    return reply();
  }
  Result<ListenReply> heard(const LookRequest&, rpc::Context&) const override { return reply(); }

 private:
  void hear(const Result<framework::Publication<RoomEvent>>& event, const ListenRequest& request) {
    if (!event) {
      failure_ = event.error().to_string();
    } else if (event->is_gap()) {
      change().set_gap_count(state().gap_count() + 1);
    } else {
      change().add_texts((*event)->text());
      if ((*event)->text() == request.leaves_at()) rooms_.erase(std::string(request.room()));
      if (!request.echoes_to().empty()) {
        auto said =
            RoomClient(router(), request.echoes_to()).say(say_request("echo " + (*event)->text()));
        if (!said) failure_ = said.error().to_string();
      }
      static_cast<void>(
          coroutine::sleep_for(std::chrono::milliseconds(request.pause_milliseconds())));
    }
  }
  ListenReply reply() const {
    ListenReply reply;
    *reply.mutable_texts() = state().texts();
    reply.set_gap_count(state().gap_count());
    reply.set_failure(failure_);
    return reply;
  }

  std::map<std::string, framework::Following> rooms_;
  std::string failure_;
};

class WatchService : public WatchBase {
 public:
  // `router` outlives it.
  explicit WatchService(framework::Router& router) : router_(router) {}

  Result<void> watch(const WatchRequest& request, rpc::Writer<RoomNews>& out,
                     rpc::Context& context) override {
    RoomClient room(router_, request.room());
    auto events = room.subscribe();
    for (;;) {
      const auto event = events.next(context.deadline());
      if (!event) return event.error();
      RoomNews news;
      if (event->is_gap()) {
        auto picture = room.look({});
        if (!picture) return picture.error();
        *news.mutable_picture() = *std::move(picture);
      } else {
        *news.mutable_event() = **event;
      }
      if (auto written = out.write(news); !written) return written;
    }
  }
  Result<FollowReply> follow(const WatchRequest& request, rpc::Context& context) override {
    RoomClient room(router_, request.room());
    auto group = framework::follow(context, room.subscribe());
    if (!group) return group.error();
    auto picture = room.look({});
    if (!picture) return picture.error();
    FollowReply reply;
    reply.set_group(*group);
    *reply.mutable_picture() = *std::move(picture);
    return reply;
  }

 private:
  framework::Router& router_;
};

}  // namespace corolane::test
