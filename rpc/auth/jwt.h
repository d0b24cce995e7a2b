// SPDX-License-Identifier: MIT
// JSON Web Tokens (RFC 7519): a login service signs what it knows of a player, and every node
// verifies it without asking that service.
//
//   auto keys = rpc::JwtKeys::parse(text_of_file);
//   if (!keys) return std::move(keys.error()).with_context(path);
//   const rpc::JwtVerifier verifier(*keys, {.issuer = "login.example", .audience = "chess"});
//   auto principal = verifier.verify(token);
//
// A token is signed as RFC 7515 says, with HS256, RS256, ES256 or EdDSA. Its key decides with which
// of them: the algorithm that the token names has to be that one (RFC 8725, 3.1). Any holder of a
// token can read it, and use it until it expires; TLS keeps it from others.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coroutine/base/result.h"
#include "net/verifying_key.h"
#include "rpc/principal.h"

namespace corolane::rpc {

// The keys of those who may sign tokens.
class JwtKeys {
 public:
  struct Key {
    std::string id;  // The `kid` of its tokens; empty: any.
    net::VerifyingKey key;
  };

  // Reads the content of a file: a set of keys in JSON (RFC 7517, "JWKS"); public keys in PEM, one
  // after the other; or else a secret for HS256, without the line break of an editor. A set may
  // hold keys for other purposes and algorithms, which are ignored. Fails with invalid_argument
  // when there is no key that verifies tokens, or one that is broken; the message says why.
  static Result<JwtKeys> parse(std::string_view text);

  const std::vector<Key>& all() const { return keys_; }

 private:
  explicit JwtKeys(std::vector<Key> keys) : keys_(std::move(keys)) {}

  std::vector<Key> keys_;
};

// Returns the time since the Unix epoch.
using UnixTime = std::function<std::chrono::seconds()>;
std::chrono::seconds system_unix_time();

// A token is accepted when it follows these rules.
struct JwtRules {
  std::string issuer = {};    // `iss`; empty: any.
  std::string audience = {};  // One of `aud`; empty: a token with an audience is for another.
  // The claim with the roles: an array of texts, or one text with blanks between them.
  std::string roles_claim = "roles";
  // By how much the clocks of the signer and this machine may differ.
  std::chrono::seconds leeway{30};
  UnixTime unix_time = system_unix_time;
};

class JwtVerifier {
 public:
  static constexpr std::size_t subject_bytes_max = 255;

  explicit JwtVerifier(JwtKeys keys, JwtRules rules = {})
      : keys_(std::move(keys)), rules_(std::move(rules)) {}

  // The principal whose id is the subject of the token, `sub`. A token has to expire. Never
  // suspends. Fails with unauthenticated; the message says why, and nothing that a stranger should
  // not know.
  Result<Principal> verify(std::string_view token) const;

  // For a rotation of keys.
  void set_keys(JwtKeys keys) { keys_ = std::move(keys); }

 private:
  JwtKeys keys_;
  JwtRules rules_;
};

}  // namespace corolane::rpc
