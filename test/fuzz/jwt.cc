// SPDX-License-Identifier: MIT
// JwtVerifier and JwtKeys: no text makes them do more than refuse, and what is not signed is never
// accepted.
//
// Input: a choice; then, for a token with a valid signature, its header, a line break, its claims;
// else a token, or a file with keys.
#include "rpc/auth/jwt.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"
#include "net/crypto.h"
#include "test/fuzz/target.h"

namespace corolane::fuzz {
namespace {

using rpc::JwtKeys;
using rpc::JwtVerifier;

const std::string secret = "0123456789abcdef0123456789abcdef";

const JwtVerifier& verifier() {
  static const JwtVerifier the_verifier(
      *JwtKeys::parse(secret),
      {.issuer = "i", .audience = "a", .unix_time = [] { return std::chrono::seconds(1'000); }});
  return the_verifier;
}

std::string signed_token(std::string_view text) {
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string_view claims = text.substr(std::min(line + 1, text.size()));
  std::string token = to_base64(text.substr(0, line), Base64::url);
  token.append(".").append(to_base64(claims, Base64::url));
  const net::Digest signature = net::hmac_sha256(secret, {token});
  return token.append(".").append(to_base64(signature, Base64::url));
}

void verify(const std::string& token, bool is_signed) {
  const auto principal = verifier().verify(token);
  if (!principal) {
    check(principal.error().code() == Code::unauthenticated, "a refusal says log in");
    return;
  }
  check(is_signed, "only the owner of the secret signs");
  check(!principal->id.empty() && principal->id.size() <= JwtVerifier::subject_bytes_max,
        "a principal has a name");
}

void parse_keys(std::string_view text) {
  const auto keys = JwtKeys::parse(text);
  if (!keys) {
    check(keys.error().code() == Code::invalid_argument, "a refusal names the keys");
    return;
  }
  check(!keys->all().empty(), "there is a key");
  check(!JwtVerifier(*keys).verify("e30.e30.AAAA"), "no key signs this");
}

}  // namespace

void run(Input input) {
  const std::uint8_t choice = input.take_byte();
  const std::string_view text = text_of(input.rest());
  switch (choice % 3) {
    case 0:
      return verify(signed_token(text), true);
    case 1:
      return verify(std::string(text), false);
    default:
      return parse_keys(text);
  }
}

}  // namespace corolane::fuzz
