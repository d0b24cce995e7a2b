#include "rpc/auth/signed_token.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "coroutine/base/check.h"
#include "net/crypto.h"
#include "rpc/auth/signed_token.pb.h"

namespace corolane::rpc {
namespace {

constexpr std::string_view version = "1.";

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (bit_count += 8; bit_count >= 6; bit_count -= 6) {
      text.push_back(alphabet[bits >> (bit_count - 6) & 63]);
    }
  }
  if (bit_count > 0) text.push_back(alphabet[bits << (6 - bit_count) & 63]);
  return text;
}

// Leftover bits have to be zero, so that each token has only one encoding.
std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    const std::size_t digit = alphabet.find(c);
    if (digit == alphabet.npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    bytes.push_back(static_cast<char>(bits >> bit_count));
  }
  if (bit_count >= 6 || (bits & ((1U << bit_count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::string_view text_of(const net::Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

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
  std::string token = std::string(version) + to_base64url(claims.SerializeAsString());
  const net::Digest signature = net::hmac_sha256(key_, {token});
  return std::move(token.append(".").append(to_base64url(text_of(signature))));
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
  const auto signature = from_base64url(token.substr(dot + 1));
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
  const auto bytes = from_base64url(signed_part.substr(version.size()));
  if (!bytes || !claims.ParseFromString(*bytes)) return no_token();
  if (unix_time_().count() >= claims.expires_at()) {
    return Error(Code::unauthenticated, "the token has expired; log in again");
  }
  Principal principal{.id = claims.principal_id()};
  principal.roles.assign(claims.roles().begin(), claims.roles().end());
  return principal;
}

}  // namespace corolane::rpc
