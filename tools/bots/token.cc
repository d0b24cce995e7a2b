// SPDX-License-Identifier: MIT
#include "tools/bots/token.h"

#include <nlohmann/json.hpp>

#include "coroutine/base/encoding.h"
#include "net/crypto.h"

namespace corolane::tools::bots {

std::string make_token(std::string_view secret, std::string_view subject,
                       std::chrono::seconds expires) {
  const nlohmann::json header = {{"alg", "HS256"}, {"typ", "JWT"}};
  const nlohmann::json claims = {{"sub", subject}, {"exp", expires.count()}};
  std::string token = to_base64(header.dump(), Base64::url);
  token += '.';
  append_base64(token, claims.dump(), Base64::url);
  const net::Digest signature = net::hmac_sha256(secret, {token});
  token += '.';
  token += to_base64(signature, Base64::url);
  return token;
}

}  // namespace corolane::tools::bots
