// The services of echo.proto.
#pragma once

#include "coroutine/task.h"
#include "test/tools/cli/echo.corolane.h"

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
};

class SecondEchoService : public SecondEchoBase {
 public:
  Result<SayReply> say(const SayRequest&, rpc::Context&) override { return SayReply(); }
};

}  // namespace corolane::cli_test
