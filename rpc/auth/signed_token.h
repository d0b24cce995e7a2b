// Tokens that say who somebody is, for a while, signed with a key that the services share: one
// service logs people in and signs, all others verify without asking anybody.
//
//   rpc::TokenSigner signer(config.token_key);                    // The login service.
//   reply.set_token(signer.sign({.id = "player-17"}, 1h));
//
//   rpc::TokenVerifier verifier({config.token_key});              // Everybody else.
//   server.add_filter(rpc::authenticate({.verify = verifier.function()}));
//
// A token is "1." BASE64URL(TokenClaims) "." BASE64URL(HMAC-SHA-256(key, all before the last dot))
// (RFC 2104; RFC 4648 without padding). It can be read by whoever has it, and used by them until it
// expires: there is no way to call one back but another key.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "rpc/auth/authentication.h"

namespace corolane::rpc {

// Shorter keys could be found by trying, by whoever has one token: as long as the signature.
inline constexpr std::size_t token_key_bytes_min = 32;

// Says what time it is, since the Unix epoch: all who sign and verify should agree within seconds.
using UnixTime = std::function<std::chrono::seconds()>;
std::chrono::seconds system_unix_time();

class TokenSigner {
 public:
  // A key below token_key_bytes_min is a bug.
  explicit TokenSigner(std::string key, UnixTime unix_time = system_unix_time);

  std::string sign(const Principal& principal, std::chrono::seconds valid_for) const;

 private:
  const std::string key_;
  const UnixTime unix_time_;
};

class TokenVerifier {
 public:
  // Tokens of any of the keys are good: during a change of keys there are two.
  explicit TokenVerifier(std::vector<std::string> keys, UnixTime unix_time = system_unix_time);

  // Never suspends. Fails with unauthenticated when it is no token, not signed by one of the keys,
  // or expired, and says which of them.
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
