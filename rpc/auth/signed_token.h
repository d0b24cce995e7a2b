// SPDX-License-Identifier: MIT
// Tokens that identify a principal for a limited time, signed with a key that the services share:
// one service logs users in and signs; all others verify without a round trip.
//
//   rpc::TokenSigner signer(config.token_key);        // The login service.
//   reply.set_token(signer.sign({.id = "player-17"}, 1h));
//
//   rpc::TokenVerifier verifier({config.token_key});  // Every other service.
//   server.add_filter(rpc::authenticate({.verify = verifier.function()}));
//
// A token is "1." BASE64URL(TokenClaims) "." BASE64URL(HMAC-SHA-256(key, all before the last dot))
// (RFC 2104; RFC 4648 without padding). Any holder can read it, and use it until it expires: the
// only way to revoke a token is to change the key.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "rpc/auth/authentication.h"

namespace corolane::rpc {

// The length of the signature. A holder of one token could brute-force a shorter key.
inline constexpr std::size_t token_key_bytes_min = 32;

// Returns the time since the Unix epoch: signers and verifiers should agree within seconds.
using UnixTime = std::function<std::chrono::seconds()>;
std::chrono::seconds system_unix_time();

class TokenSigner {
 public:
  // A key shorter than token_key_bytes_min is a bug.
  explicit TokenSigner(std::string key, UnixTime unix_time = system_unix_time);

  std::string sign(const Principal& principal, std::chrono::seconds valid_for) const;

 private:
  const std::string key_;
  const UnixTime unix_time_;
};

class TokenVerifier {
 public:
  // Accepts tokens of any of the keys: during a key rotation there are two.
  explicit TokenVerifier(std::vector<std::string> keys, UnixTime unix_time = system_unix_time);

  // Never suspends. Fails with unauthenticated when the token is malformed, not signed by one of
  // the keys, or expired; the message says which.
  Result<Principal> verify(std::string_view token) const;

  // For AuthenticationOptions; the verifier outlives it.
  auto function() const {
    return [this](std::string_view token, Context&) { return verify(token); };
  }

 private:
  const std::vector<std::string> keys_;
  const UnixTime unix_time_;
};

}  // namespace corolane::rpc
