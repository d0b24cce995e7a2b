// SPDX-License-Identifier: MIT
#include "rpc/auth/signed_token.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"
#include "net/crypto.h"
#include "rpc/auth/signed_token.pb.h"

namespace corolane::rpc {
namespace {

constexpr std::string_view version = "1.";

void check_key(std::string_view key) {
  check(key.size() >= token_key_bytes_min, "the key of tokens has at least 32 bytes");
}

Error no_token() { return Error(Code::unauthenticated, "the token is malformed; log in again"); }

}  // namespace

std::chrono::seconds system_unix_time() {
  return std::chrono::duration_cast<std::chrono::seconds>(time_of_day().time_since_epoch());
}

TokenSigner::TokenSigner(std::string key, UnixTime unix_time)
    : key_(std::move(key)), unix_time_(std::move(unix_time)) {
  check_key(key_);
}

std::string TokenSigner::sign(const Principal& principal, std::chrono::seconds valid_for) const {
  TokenClaims claims;
  claims.set_principal_id(principal.id);
  for (const std::string& role : principal.roles) claims.add_roles(role);
  claims.set_expires_at((unix_time_() + valid_for).count());
  std::string token = std::string(version) + to_base64(claims.SerializeAsString(), Base64::url);
  const net::Digest signature = net::hmac_sha256(key_, {token});
  return std::move(token.append(".").append(to_base64(signature, Base64::url)));
}

TokenVerifier::TokenVerifier(std::vector<std::string> keys, UnixTime unix_time)
    : keys_(std::move(keys)), unix_time_(std::move(unix_time)) {
  check(!keys_.empty(), "tokens are verified with a key");
  for (const std::string& key : keys_) check_key(key);
}

Result<Principal> TokenVerifier::verify(std::string_view token) const {
  const std::size_t dot = token.rfind('.');
  if (!token.starts_with(version) || dot == token.npos || dot < version.size()) return no_token();
  const std::string_view signed_part = token.substr(0, dot);
  const auto signature = from_base64(token.substr(dot + 1), Base64::url);
  if (!signature) return no_token();
  const auto is_signed = [&](const std::string& key) {
    return net::equal_in_constant_time(net::hmac_sha256(key, {signed_part}),
                                       std::as_bytes(std::span(*signature)));
  };
  // Nothing else of the token is read before this check.
  if (!std::ranges::any_of(keys_, is_signed)) {
    return Error(Code::unauthenticated, "the token is not signed by a key that is known here");
  }
  TokenClaims claims;
  const auto bytes = from_base64(signed_part.substr(version.size()), Base64::url);
  if (!bytes || !claims.ParseFromString(*bytes)) return no_token();
  if (unix_time_().count() >= claims.expires_at()) {
    return Error(Code::unauthenticated, "the token has expired; log in again");
  }
  Principal principal{.id = claims.principal_id()};
  principal.roles.assign(claims.roles().begin(), claims.roles().end());
  return principal;
}

}  // namespace corolane::rpc
