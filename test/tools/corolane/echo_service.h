// SPDX-License-Identifier: MIT
// The services of echo.proto.
#pragma once

#include <string>

#include "coroutine/task.h"
#include "test/tools/corolane/echo.corolane.h"

namespace corolane::cli_test {

class EchoService : public EchoBase {
 public:
  Result<SayReply> say(const SayRequest& request, rpc::Context&) override {
    SayReply reply;
    *reply.mutable_said() = request;
    return reply;
  }

  Result<SayReply> find(const google::protobuf::Empty&, rpc::Context&) override {
    return Error(Code::not_found, "nobody said that");
  }

  Result<SayReply> wait(const google::protobuf::Empty&, rpc::Context&) override {
    if (auto slept = coroutine::sleep_until(Deadline::never()); !slept) return slept.error();
    return SayReply();
  }

  Result<void> repeat(const SayRequest& request, rpc::Writer<SayReply>& out,
                      rpc::Context&) override {
    for (const SayRequest::Listener& listener : request.listeners()) {
      SayReply reply;
      reply.mutable_said()->set_text(request.text() + ", " + listener.name());
      if (auto written = out.write(reply); !written) return written;
    }
    if (request.text().empty()) return Error(Code::invalid_argument, "nothing was said");
    return {};
  }

  Result<void> whisper(const SayRequest& request, rpc::Context&) override {
    whispered = request.text();
    return {};
  }

  Result<Everything> give_back(const Everything& request, rpc::Context&) override {
    return request;
  }

  std::string whispered;
};

// One object for all ids.
class TestWall : public WallObject {
 public:
  Result<ShoutReply> shout(const SayRequest& request, rpc::Context& context) override {
    change().set_text(request.text());
    return reply(context);
  }

  Result<ShoutReply> listen(const google::protobuf::Empty&, rpc::Context& context) const override {
    return reply(context);
  }

  Result<void> paint(const SayRequest& request, rpc::Context& context) override {
    painted = request.text() + " on " + reply(context).wall();
    return {};
  }

  std::string painted;

 private:
  ShoutReply reply(const rpc::Context& context) const {
    ShoutReply reply;
    reply.set_text(state().text());
    if (context.object() != nullptr) reply.set_wall(std::string(context.object()->id));
    return reply;
  }
};

class SecondEchoService : public SecondEchoBase {
 public:
  Result<SayReply> say(const SayRequest&, rpc::Context&) override { return SayReply(); }
};

}  // namespace corolane::cli_test
