// SPDX-License-Identifier: MIT
// Decides which principal a client is, as node.clients.login says or the program's own login.
//
//   ClientLogin login(config.clients.login, program_login, wall_clock);
//   if (auto opened = login.open(); !opened) return opened;
//   auto principal = login.principal_of(token, peer);
//
// Belongs to one scheduler's thread.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "coroutine/base/result.h"
#include "framework/node/node_config.h"
#include "framework/time/wall_clock.h"
#include "rpc/auth/jwt.h"
#include "rpc/principal.h"

namespace corolane::framework::detail {

class ClientLogin {
 public:
  // `program` outlives it. With a login of the program, tokens and certificates are that login's to
  // judge. The clock says when a token has expired.
  ClientLogin(LoginConfig config, const rpc::Login& program, const WallClock& clock)
      : config_(std::move(config)), program_(program), clock_(clock) {}

  // Reads the keys. Fails with invalid_argument when they cannot be used, and with
  // failed_precondition when no client could log in, or when the configuration asks for what the
  // program's login decides.
  Result<void> open();

  // Suspends if the program's login does. Fails with unauthenticated, or as that login.
  Result<rpc::Principal> principal_of(std::string_view token, const rpc::LoginPeer& peer) const;

  // A reload in two steps: the first reads the keys again, and may fail.
  Result<void> prepare_change();
  void change();

 private:
  Result<rpc::JwtKeys> read_keys() const;
  Result<rpc::Principal> claimed(std::string_view token, const rpc::LoginPeer& peer) const;

  const LoginConfig config_;
  const rpc::Login& program_;
  const WallClock clock_;
  std::optional<rpc::JwtVerifier> verifier_;  // Empty when tokens are refused.
  std::optional<rpc::JwtKeys> next_keys_;
};

}  // namespace corolane::framework::detail
