// SPDX-License-Identifier: MIT
// The login of our servers: the token is the principal.
#pragma once

#include <string>
#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/principal.h"

namespace corolane::bench {

inline Result<rpc::Principal> take_any_token(std::string_view token, const rpc::LoginPeer&) {
  if (token.empty()) return Error(Code::unauthenticated, "a client needs a token");
  return rpc::Principal{.id = std::string(token)};
}

}  // namespace corolane::bench
