// Lets only those calls through whose caller is known: a filter that finds out who calls.
//
//   server.add_filter(rpc::authenticate(
//       {.verify = [&](std::string_view token, rpc::Context&) { return tokens.verify(token); },
//        .exempt = {"chess.Login/*"}}));
//   ...
//   if (!context.principal()->has_role("admin")) return Error(Code::permission_denied, "...");
//
// What a caller shows is CallOptions::authorization, any text of at most `token_bytes_max`. Beware:
// whoever can read a connection can use what is sent over it (net/README.md says how to encrypt).
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

// Who calls.
struct Principal {
  std::string id;
  std::vector<std::string> roles = {};

  bool has_role(std::string_view role) const {
    return std::ranges::find(roles, role) != roles.end();
  }
  friend bool operator==(const Principal&, const Principal&) = default;
};

struct AuthenticationOptions {
  // Who it is that shows this token; an error, mostly unauthenticated, is what the caller gets. May
  // suspend, to ask somebody. Never sees an empty token.
  std::function<Result<Principal>(std::string_view token, Context& call)> verify;
  // Whether that one may make this call; everybody may, when it is empty.
  std::function<Result<void>(const Principal& principal, Context& call)> authorize = {};
  // Methods that anybody may call, without or with whatever token: "package.Service/Method", or
  // "package.Service/*" for all of a service.
  std::vector<std::string> exempt = {};
  std::size_t token_bytes_max = 4096;
};

// Calls without a token, or with one that is too long, are unauthenticated.
ServerFilter authenticate(AuthenticationOptions options);

// An authorize that asks for one of these roles, and is permission_denied otherwise.
std::function<Result<void>(const Principal&, Context&)> needs_role(std::vector<std::string> roles);

}  // namespace corolane::rpc
