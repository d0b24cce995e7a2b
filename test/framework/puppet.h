// SPDX-License-Identifier: MIT
// The object of puppet.proto. The test decides what it does.
#pragma once

#include <functional>

#include "coroutine/base/try.h"
#include "coroutine/sync/event.h"
#include "test/framework/puppet.corolane.h"

namespace corolane::test {

class Puppet : public PuppetObject {
 public:
  // Shared by all puppets of a shard; a null function succeeds and does nothing.
  struct Strings {
    std::function<Result<void>(Puppet& puppet)> on_activate = nullptr;
    std::function<void(Puppet& puppet)> on_deactivate = nullptr;
    std::function<Result<void>(Puppet& puppet)> run = nullptr;
    std::function<Result<void>(Puppet& puppet)> run_alone = nullptr;
    std::function<Result<void>(Puppet& puppet, const framework::Reminder& reminder)> on_reminder =
        nullptr;
  };

  explicit Puppet(const Strings& strings) : strings_(strings) {}

  Result<void> on_activate() override {
    return strings_.on_activate == nullptr ? Result<void>() : strings_.on_activate(*this);
  }
  void on_deactivate() override {
    if (strings_.on_deactivate != nullptr) strings_.on_deactivate(*this);
  }
  Result<void> on_reminder(const framework::Reminder& reminder) override {
    return strings_.on_reminder == nullptr ? Result<void>() : strings_.on_reminder(*this, reminder);
  }
  Result<RunReply> run(const RunRequest&, rpc::Context&) override {
    if (strings_.run == nullptr) return RunReply();
    auto done = strings_.run(*this);
    if (!done) return done.error();
    return RunReply();
  }
  Result<google::protobuf::Empty> run_for_good(const RunRequest& request,
                                               rpc::Context& context) override {
    COROLANE_TRY(run(request, context));
    return google::protobuf::Empty();
  }
  Result<void> run_alone(const RunRequest&, rpc::Context&) override {
    return strings_.run_alone == nullptr ? Result<void>() : strings_.run_alone(*this);
  }
  Result<PuppetState> look(const RunRequest&, rpc::Context&) const override { return state(); }

  // For the test.
  using Object::change;
  using Object::state;
  using ObjectBase::deactivate;
  using ObjectBase::destroy;
  using ObjectBase::outbox;
  using ObjectBase::outbox_size;
  using ObjectBase::outside;
  using ObjectBase::reminders;
  using ObjectBase::router;
  using ObjectBase::save;
  using ObjectBase::timers;
  using ObjectBase::wait_until;
  using ObjectBase::wall_clock;
  Result<void> wait_for(coroutine::Event& event, Deadline deadline) const {
    return outside([&] { return event.wait(deadline); });
  }

 private:
  const Strings& strings_;
};

}  // namespace corolane::test
