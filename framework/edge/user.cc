// SPDX-License-Identifier: MIT
#include "framework/edge/user.h"

#include <algorithm>

#include "framework/edge/user.corolane.h"
#include "framework/routing/router.h"
#include "rpc/wire/frame.h"

namespace corolane::framework {
namespace {

UserPush push_of(const google::protobuf::MessageLite& message) {
  UserPush push;
  push.set_type(rpc::method_id(message.GetTypeName()));
  message.SerializeToString(push.mutable_message());
  return push;
}

Result<void> without_reply(Result<google::protobuf::Empty> result) {
  return result ? Result<void>() : std::move(result.error());
}

}  // namespace

Result<void> User::push(const google::protobuf::MessageLite& message,
                        const rpc::CallOptions& options) {
  return without_reply(UserClient(router_, id_).push(push_of(message), options));
}

Result<void> User::push_for_good(const google::protobuf::MessageLite& message,
                                 const rpc::CallOptions& options) {
  return without_reply(UserClient(router_, id_).push_for_good(push_of(message), options));
}

Result<void> User::kick(const Error& reason, const rpc::CallOptions& options) {
  SessionKick kick;
  kick.set_code(static_cast<std::uint32_t>(reason.code()));
  kick.set_reason(reason.message());
  return without_reply(UserClient(router_, id_).kick(kick, options));
}

Result<User::Presence> User::presence(const rpc::CallOptions& options) {
  auto view = UserClient(router_, id_).look(LookAtUser(), options);
  if (!view) return view.error();
  Presence presence{.devices = {},
                    .seen = std::chrono::milliseconds(view->seen_milliseconds()),
                    .kept_count = view->kept_count(),
                    .unreachable_count = view->unreachable_count()};
  for (const UserSession& session : view->sessions()) {
    const SessionReport& report = session.report();
    Device device{.session = session.number(),
                  .is_connected = report.is_connected(),
                  .age = std::chrono::milliseconds(report.age_milliseconds()),
                  .ring_count = report.ring_count(),
                  .pushed_count = report.pushed_count(),
                  .lost_count = report.lost_count(),
                  .group_count = report.group_count(),
                  .peer = report.peer(),
                  .follows = {},
                  .calls = {}};
    for (const FollowRecord& followed : report.follows()) {
      device.follows.push_back({.type = followed.type(), .id = followed.id()});
    }
    for (const SessionCall& call : report.calls()) {
      device.calls.push_back({.method = call.method(),
                              .object = call.object(),
                              .age = std::chrono::milliseconds(call.milliseconds()),
                              .waits_for = call.waits_for()});
    }
    presence.devices.push_back(std::move(device));
  }
  return presence;
}

bool User::Presence::is_connected() const {
  return std::ranges::any_of(devices, &Device::is_connected);
}

}  // namespace corolane::framework
