// The login of development: a player has the name that the page sends, without any proof.
//
// Replace it before strangers play: a login service signs tokens, node.clients.login.jwt_keys_file
// names its keys, and main.cc calls set_login() no more.
#pragma once

#include <string_view>

#include "coroutine/base/result.h"
#include "rpc/principal.h"

namespace my_game {

// Fails with unauthenticated when the token is no name. An empty one is nobody's.
corolane::Result<corolane::rpc::Principal> login_by_name(std::string_view token,
                                                         const corolane::rpc::LoginPeer& peer);

}  // namespace my_game
