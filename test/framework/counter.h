// SPDX-License-Identifier: MIT
// The object of counter.proto.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "coroutine/base/try.h"
#include "coroutine/task.h"
#include "test/framework/counter.corolane.h"

namespace corolane::test {

inline AddRequest add_request(std::int64_t amount, std::chrono::milliseconds pause = {}) {
  AddRequest request;
  request.set_amount(amount);
  request.set_pause_milliseconds(static_cast<std::uint32_t>(pause.count()));
  return request;
}

inline WaitUntilRequest wait_request(std::int64_t value) {
  WaitUntilRequest request;
  request.set_value(value);
  return request;
}

class Counter : public CounterObject {
 public:
  Result<CounterReply> add(const AddRequest& request, rpc::Context&) override {
    const auto value = state().value();
    if (auto paused = pause(request.pause_milliseconds()); !paused) return paused.error();
    change().set_value(value + request.amount());
    if (request.then_fail()) return Error(Code::failed_precondition, "as was asked for");
    return reply();
  }
  Result<CounterReply> add_for_good(const AddRequest& request, rpc::Context& context) override {
    return add(request, context);
  }
  // Sends the headers of the request back.
  Result<CounterReply> get(const GetRequest& request, rpc::Context& context) const override {
    for (const auto& [name, value] : context.headers()) context.reply_headers().add(name, value);
    if (auto paused = pause(request.pause_milliseconds()); !paused) return paused.error();
    return reply();
  }
  Result<CounterReply> await(const WaitUntilRequest& request, rpc::Context&) const override {
    COROLANE_TRY(wait_until([&] { return state().value() >= request.value(); }));
    return reply();
  }
  Result<void> add_often(const AddOftenRequest& request, rpc::Writer<CounterReply>& values,
                         rpc::Context& context) override {
    context.reply_headers().add("counter", id());
    for (std::uint32_t i = 0; i < request.count(); ++i) {
      change().set_value(state().value() + request.amount());
      auto written = values.write(reply(request.ballast_bytes()));
      if (!written && !request.ignores_errors()) return written;
    }
    if (request.then_fail()) return Error(Code::failed_precondition, "as was asked for");
    return {};
  }
  Result<void> add_often_for_good(const AddOftenRequest& request, rpc::Writer<CounterReply>& values,
                                  rpc::Context& context) override {
    return add_often(request, values, context);
  }
  Result<void> repeat(const RepeatRequest& request, rpc::Writer<CounterReply>& values,
                      rpc::Context&) const override {
    for (std::uint32_t i = 0; i < request.count(); ++i) {
      if (auto written = values.write(reply(request.ballast_bytes())); !written) return written;
    }
    return {};
  }
  // The counter "who" fails with its caller's principal.
  Result<CounterReply> add_along(const AddAlongRequest& request, rpc::Context& context) override {
    if (id() == "who") return Error(Code::aborted, "you are " + context.principal().id);
    if (!request.ids().empty()) {
      AddAlongRequest rest;
      rest.mutable_ids()->Assign(request.ids().begin() + 1, request.ids().end());
      auto added = CounterClient(router(), request.ids(0)).add_along(rest);
      // It has changed nothing so far, so a router may call it again.
      if (!added) return added;
    }
    change().set_value(state().value() + 1);
    return reply();
  }
  Result<void> add_quietly(const AddRequest& request, rpc::Context& context) override {
    auto added = add(request, context);
    if (!added) return added.error();
    return {};
  }

 private:
  static Result<void> pause(std::uint32_t milliseconds) {
    if (milliseconds == 0) return {};
    return coroutine::sleep_for(std::chrono::milliseconds(milliseconds));
  }
  CounterReply reply(std::uint32_t ballast_bytes = 0) const {
    CounterReply reply;
    reply.set_value(state().value());
    reply.mutable_ballast()->resize(ballast_bytes);
    return reply;
  }
};

}  // namespace corolane::test
