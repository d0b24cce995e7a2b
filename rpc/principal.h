// SPDX-License-Identifier: MIT
// The identity of a caller, and how a server learns it: by the login of its connection.
//
//   server.listen(endpoint, {.door = rpc::Door::clients,
//                            .login = [&](std::string_view token, const rpc::LoginPeer&) {
//                              return verifier.verify(token);
//                            }});
//
//   // In a handler:
//   if (!context.principal().has_role("admin")) return Error(Code::permission_denied, "...");
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"

namespace corolane::rpc {

struct Principal {
  std::string id = {};  // "player-17"; empty: anonymous.
  std::vector<std::string> roles = {};

  bool is_anonymous() const { return id.empty(); }
  bool has_role(std::string_view role) const {
    return std::ranges::find(roles, role) != roles.end();
  }
  friend bool operator==(const Principal&, const Principal&) = default;
};

// The principal of callers that have not logged in.
inline const Principal& anonymous() {
  static const Principal nobody;
  return nobody;
}

// The peer that logs in.
struct LoginPeer {
  std::string_view address;        // "10.1.0.7:52310".
  std::string_view identity = {};  // By its TLS certificate; empty without one.
};

// Returns the principal that a token names, or the error for the peer, usually unauthenticated. An
// empty token is for the function to judge. Runs in a task and may suspend, for example to ask
// another service; it is cancelled when the peer leaves or takes too long.
using Login = std::function<Result<Principal>(std::string_view token, const LoginPeer& peer)>;

// The longest token that a hello has room for.
inline constexpr std::size_t token_bytes_max = 4096;

}  // namespace corolane::rpc
