// SPDX-License-Identifier: MIT
// A service with a method of each priority, which clients may call. They answer with their request.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coroutine/testing/virtual_time.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {

class RankedService final : public rpc::Service {
 public:
  const char* service_name() const override { return "corolane.test.Ranked"; }
  std::span<const rpc::Method> methods() const override { return methods_; }

  std::vector<std::string> begun;  // The texts of the requests.
  Duration work_time{};            // How long each of them blocks the thread.

 private:
  static rpc::Method method(const char* full_name, rpc::Priority priority) {
    rpc::Method method = echo_method("Echo");
    method.full_name = full_name;
    method.id = rpc::method_id(full_name);
    method.priority = priority;
    method.is_public = true;
    method.invoke = &RankedService::invoke;
    return method;
  }
  static Result<void> invoke(rpc::Service& service, const google::protobuf::Message& request,
                             rpc::Context&, rpc::Messages& sink) {
    auto& self = static_cast<RankedService&>(service);
    self.begun.push_back(static_cast<const EchoRequest&>(request).text());
    if (self.work_time > Duration::zero()) virtual_time().wait(Deadline::after(self.work_time));
    EchoReply reply;
    reply.set_text(self.begun.back());
    return sink.reply(reply);
  }

  const std::vector<rpc::Method> methods_ = {
      method("corolane.test.Ranked/Control", rpc::Priority::control),
      method("corolane.test.Ranked/InSession", rpc::Priority::in_session),
      method("corolane.test.Ranked/Login", rpc::Priority::login),
      method("corolane.test.Ranked/Background", rpc::Priority::background)};
};

}  // namespace corolane::test
