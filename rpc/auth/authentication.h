// SPDX-License-Identifier: MIT
// A filter that identifies the caller and lets only calls of known callers through.
//
//   server.add_filter(rpc::authenticate(
//       {.verify = [&](std::string_view token, rpc::Context&) { return tokens.verify(token); },
//        .exempt = {"chess.Login/*"}}));
//
//   // In a handler:
//   if (!context.principal()->has_role("admin")) return Error(Code::permission_denied, "...");
//
// The caller's token is CallOptions::authorization, any text of at most `token_bytes_max`. Beware:
// an eavesdropper on the connection can reuse the token (net/tls/README.md says how to encrypt).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "rpc/context.h"
#include "rpc/filter.h"

namespace corolane::rpc {

// The identity of a caller.
struct Principal {
  std::string id;
  std::vector<std::string> roles = {};

  bool has_role(std::string_view role) const {
    return std::ranges::find(roles, role) != roles.end();
  }
  friend bool operator==(const Principal&, const Principal&) = default;
};

struct AuthenticationOptions {
  // Returns the principal of this token; the caller gets its error, usually unauthenticated. May
  // suspend, for example to ask another service. Never sees an empty token.
  std::function<Result<Principal>(std::string_view token, Context& call)> verify;
  // Decides whether the principal may make this call. Empty: every principal may.
  std::function<Result<void>(const Principal& principal, Context& call)> authorize = {};
  // Methods that need no token, and ignore one: "package.Service/Method", or "package.Service/*"
  // for all methods of a service.
  std::vector<std::string> exempt = {};
  std::size_t token_bytes_max = 4096;
};

// Calls without a token, or with a token that is too long, fail with unauthenticated.
ServerFilter authenticate(AuthenticationOptions options);

// An `authorize` that requires one of these roles and fails with permission_denied otherwise.
std::function<Result<void>(const Principal&, Context&)> needs_role(std::vector<std::string> roles);

}  // namespace corolane::rpc
