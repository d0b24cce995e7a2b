// SPDX-License-Identifier: MIT
// A user: the principal of clients, wherever they are connected this second.
//
//   Result<void> Game::tell(const std::string& player, const TurnNotice& notice) {
//     auto pushed = User(router(), player).push(notice);
//     if (!pushed && pushed.error().code() == Code::not_found) return {};  // They are away.
//     return pushed;
//   }
//
//   node.host_users({.devices_max = 2});                                   // In main.
//
// Each user is an object of the cluster that knows the sessions (rpc/session.h) of that principal,
// on whatever shard of whatever node they are. All pushes to a user pass through it, so all its
// sessions have them in one order.
//
// A login beyond `devices_max` ends the earliest session, whose client is told (aborted). While the
// object of a user cannot be reached, clients of that user cannot log in; those with a session
// resume it all the same.
//
// A user and its methods belong to the thread of their router.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/base/error.h"
#include "coroutine/base/result.h"
#include "rpc/call_options.h"

namespace google::protobuf {
class MessageLite;
}

namespace corolane::framework {

class Router;

struct UserOptions {
  // Sessions of one user at the same time; 1: the newer login wins.
  std::uint32_t devices_max = 1;
  // A user without a session keeps its pushes for the next one, as by push_for_good(); a crash may
  // lose those of the last second.
  bool keeps_pushes = false;
  // One user keeps at most so many pushes, and so many bytes. Above either bound a push fails.
  std::size_t kept_count_max = 200;
  std::size_t kept_bytes_max = 64 * 1024;
};

class User {
 public:
  // `router` outlives it. `id` is that of the principal.
  User(Router& router, std::string id) : router_(router), id_(std::move(id)) {}

  // Sends the message to the sessions of the user. Success means that one at least has it: its
  // client gets it now, or when it resumes within the patience; another one that could not be
  // reached is told a gap. Suspends. Fails with not_found when the user has no session, unless
  // pushes are kept, with unavailable while none can be reached, and with resource_exhausted when
  // too much is kept or the message is too large. Otherwise as Router::call(): a push that may have
  // been executed may come twice when it is repeated without a request id.
  Result<void> push(const google::protobuf::MessageLite& message,
                    const rpc::CallOptions& options = {});

  // The same, but it succeeds once the message is stored. It is kept until the clients of all
  // sessions have acknowledged it, or were told that it is lost, and comes first in each session
  // that begins before any has. So it survives the crash of any node. A client gets it once, as
  // long as it lives and is of that user: when its node crashes with the acknowledgement, what
  // comes again is ignored.
  // May be called by outbox(), with a stored change.
  Result<void> push_for_good(const google::protobuf::MessageLite& message,
                             const rpc::CallOptions& options = {});

  // Ends the sessions of the user, as rpc::Session::kick() does. Suspends. Fails with unavailable
  // when one could not be reached, which then stays; otherwise as Router::call().
  Result<void> kick(const Error& reason, const rpc::CallOptions& options = {});

  struct Followed {
    std::string type;  // "package.Room".
    std::string id;
  };
  // A call of its client that is not answered yet.
  struct RunningCall {
    std::string method;  // "package.Service/Method".
    std::string object;  // Its id; empty for a service.
    std::chrono::milliseconds age{};
    std::string waits_for;  // `package.Game/Move("7")`, "lock"; empty while it waits for nothing.
  };
  struct Device {
    std::uint64_t session = 0;  // rpc::Session::number().
    bool is_connected = false;  // Otherwise its client may still come back.
    std::chrono::milliseconds age{};
    std::size_t ring_count = 0;  // Pushes that its client has not acknowledged.
    std::uint64_t pushed_count = 0;
    std::uint64_t lost_count = 0;  // Told to the client as gaps.
    std::size_t group_count = 0;   // That it follows (edge/follow.h).
    std::string peer;              // "10.1.0.7:52310"; empty without a connection.
    std::vector<Followed> follows;
    std::vector<RunningCall> calls;  // 64 at most.
  };
  struct Presence {
    std::vector<Device> devices;
    // When a session was last known to begin, move or end, since 1970, UTC; 0: never.
    std::chrono::milliseconds seen{};
    std::size_t kept_count = 0;
    // Sessions whose nodes are away: they are in `devices` again when these are back.
    std::size_t unreachable_count = 0;

    bool is_connected() const;
  };
  // Asks the nodes of its sessions. Suspends. Fails as Router::call().
  Result<Presence> presence(const rpc::CallOptions& options = {});

 private:
  Router& router_;
  const std::string id_;
};

}  // namespace corolane::framework
