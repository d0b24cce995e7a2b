// SPDX-License-Identifier: MIT
// The service of user_door.proto, and how a test calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "framework/edge/user.h"
#include "framework/routing/router.h"
#include "rpc/client/client.h"
#include "test/framework/counter.pb.h"
#include "test/framework/user_door.corolane.h"

namespace corolane::test {

class UserDoorService final : public UserDoorBase {
 public:
  // `router` outlives it.
  explicit UserDoorService(framework::Router& router) : router_(router) {}

  Result<google::protobuf::Empty> push(const UserOrder& order, rpc::Context& context) override {
    framework::User user(router_, order.user());
    CounterReply message;
    message.set_value(order.value());
    const rpc::CallOptions options{.deadline = context.deadline()};
    return done(order.is_for_good() ? user.push_for_good(message, options)
                                    : user.push(message, options));
  }
  Result<google::protobuf::Empty> kick(const UserOrder& order, rpc::Context& context) override {
    return done(
        framework::User(router_, order.user())
            .kick(Error(Code::permission_denied, "no cheating"), {.deadline = context.deadline()}));
  }
  Result<UserSight> look(const UserOrder& order, rpc::Context& context) override {
    auto presence =
        framework::User(router_, order.user()).presence({.deadline = context.deadline()});
    if (!presence) return presence.error();
    UserSight sight;
    sight.set_device_count(static_cast<std::uint32_t>(presence->devices.size()));
    sight.set_is_connected(presence->is_connected());
    sight.set_seen_milliseconds(presence->seen.count());
    sight.set_kept_count(static_cast<std::uint32_t>(presence->kept_count));
    sight.set_unreachable_count(static_cast<std::uint32_t>(presence->unreachable_count));
    return sight;
  }

 private:
  static Result<google::protobuf::Empty> done(Result<void> result) {
    if (!result) return std::move(result.error());
    return google::protobuf::Empty();
  }

  framework::Router& router_;
};

// A user, for a test outside of the cluster.
class FarUser {
 public:
  // `client` outlives it.
  FarUser(rpc::Client& client, std::string id) : door_(client), id_(std::move(id)) {}

  Result<void> push(std::int64_t value, const rpc::CallOptions& options = {}) {
    return without_reply(door_.push(order(value, false), options));
  }
  Result<void> push_for_good(std::int64_t value, const rpc::CallOptions& options = {}) {
    return without_reply(door_.push(order(value, true), options));
  }
  Result<void> kick() { return without_reply(door_.kick(order(0, false))); }
  Result<UserSight> look() { return door_.look(order(0, false)); }

 private:
  UserOrder order(std::int64_t value, bool is_for_good) const {
    UserOrder order;
    order.set_user(id_);
    order.set_value(value);
    order.set_is_for_good(is_for_good);
    return order;
  }
  static Result<void> without_reply(Result<google::protobuf::Empty> result) {
    return result ? Result<void>() : std::move(result.error());
  }

  UserDoorClient door_;
  const std::string id_;
};

}  // namespace corolane::test
