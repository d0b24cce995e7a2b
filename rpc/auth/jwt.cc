// SPDX-License-Identifier: MIT
#include "rpc/auth/jwt.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "coroutine/base/clock.h"
#include "coroutine/base/encoding.h"

namespace corolane::rpc {
namespace {

using net::VerifyingKey;
using nlohmann::json;
using Algorithm = VerifyingKey::Algorithm;

constexpr std::string_view pem_begin = "-----BEGIN ";

Error invalid(std::string message) { return Error(Code::invalid_argument, std::move(message)); }

Error refused(std::string message) { return Error(Code::unauthenticated, std::move(message)); }

Error malformed() { return refused("the token is no JSON Web Token"); }

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::hs256:
      return "HS256";
    case Algorithm::rs256:
      return "RS256";
    case Algorithm::es256:
      return "ES256";
    case Algorithm::eddsa:
      return "EdDSA";
  }
  return "";
}

// An object of JSON; nothing when the text is none.
std::optional<json> object_of(std::string_view text) {
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return std::nullopt;
  return object;
}

// The text of a member; empty when there is none, or something else.
std::string text_of(const json& object, std::string_view name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The bytes of a member in base64url; empty when there are none.
std::string bytes_of(const json& object, std::string_view name) {
  return from_base64(text_of(object, name), Base64::url).value_or("");
}

// The keys of a set (RFC 7517, 5). A kind that is unknown here is ignored, as it says; a key of a
// known kind that is broken is an error, since its tokens would be refused later.
Result<std::optional<VerifyingKey>> key_of(const json& jwk) {
  const std::string use = text_of(jwk, "use");
  if (!use.empty() && use != "sig") return std::optional<VerifyingKey>();
  const std::string type = text_of(jwk, "kty");
  const std::string curve = text_of(jwk, "crv");
  std::optional<Result<VerifyingKey>> key;
  if (type == "oct") key = VerifyingKey::from_secret(bytes_of(jwk, "k"));
  if (type == "RSA") key = VerifyingKey::from_rsa(bytes_of(jwk, "n"), bytes_of(jwk, "e"));
  if (type == "EC" && curve == "P-256") {
    key = VerifyingKey::from_p256(bytes_of(jwk, "x"), bytes_of(jwk, "y"));
  }
  if (type == "OKP" && curve == "Ed25519") key = VerifyingKey::from_ed25519(bytes_of(jwk, "x"));
  if (!key) return std::optional<VerifyingKey>();
  // A key for RS512, for example.
  const std::string algorithm = text_of(jwk, "alg");
  if (*key && !algorithm.empty() && algorithm != name_of((*key)->algorithm())) {
    return std::optional<VerifyingKey>();
  }
  if (!*key) return std::move(key->error());
  return std::optional(*std::move(*key));
}

Result<std::vector<JwtKeys::Key>> keys_of_set(std::string_view text) {
  const auto set = object_of(text);
  const auto list = set ? set->find("keys") : json::const_iterator();
  if (!set || list == set->end() || !list->is_array()) {
    return invalid("not a JSON Web Key Set: {\"keys\": [...]}");
  }
  std::vector<JwtKeys::Key> keys;
  for (const json& jwk : *list) {
    if (!jwk.is_object()) return invalid("a key of the set is no object");
    std::string id = text_of(jwk, "kid");
    auto key = key_of(jwk);
    if (!key) return std::move(key.error()).with_context("key \"" + id + "\"");
    if (*key) keys.push_back({.id = std::move(id), .key = **std::move(key)});
  }
  return keys;
}

Result<std::vector<JwtKeys::Key>> keys_of_pem(std::string_view text) {
  std::vector<JwtKeys::Key> keys;
  for (std::size_t begin = text.find(pem_begin); begin != text.npos;) {
    const std::size_t end = text.find(pem_begin, begin + 1);
    auto key = VerifyingKey::from_pem(text.substr(begin, end - begin));
    if (!key) return std::move(key.error()).with_context("key " + std::to_string(keys.size() + 1));
    keys.push_back({.id = {}, .key = *std::move(key)});
    begin = end;
  }
  return keys;
}

Result<std::vector<JwtKeys::Key>> key_of_secret(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  auto key = VerifyingKey::from_secret(std::string(text));
  if (!key) return key.error();
  return std::vector{JwtKeys::Key{.id = {}, .key = *std::move(key)}};
}

// A signed token, as views of its text: header, claims and signature, in base64url.
struct Parts {
  std::string_view header;
  std::string_view claims;
  std::string_view signature;
  std::string_view signed_text;
};

std::optional<Parts> parts_of(std::string_view token) {
  if (token.size() > token_bytes_max) return std::nullopt;
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == token.npos || token.find('.', first + 1) != last) return std::nullopt;
  return Parts{.header = token.substr(0, first),
               .claims = token.substr(first + 1, last - first - 1),
               .signature = token.substr(last + 1),
               .signed_text = token.substr(0, last)};
}

std::optional<json> decoded_object(std::string_view base64) {
  const auto text = from_base64(base64, Base64::url);
  return text ? object_of(*text) : std::nullopt;
}

// The time of a claim, which may have a fraction (RFC 7519, 2, NumericDate); nothing when it is
// absent or no time.
std::optional<double> time_of(const json& claims, std::string_view name) {
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

Result<void> check_time(const json& claims, const JwtRules& rules) {
  const auto now = static_cast<double>(rules.unix_time().count());
  const auto leeway = static_cast<double>(rules.leeway.count());
  const auto expires_at = time_of(claims, "exp");
  if (!expires_at) return refused("the token does not say when it expires");
  if (now >= *expires_at + leeway) return refused("the token has expired; log in again");
  if (!claims.contains("nbf")) return {};
  const auto valid_from = time_of(claims, "nbf");
  if (valid_from && now >= *valid_from - leeway) return {};
  return refused("the token is not valid yet");
}

bool names(const json& audience, const std::string& name) {
  if (audience.is_string()) return audience.get<std::string>() == name;
  return audience.is_array() && std::ranges::any_of(audience, [&](const json& one) {
           return one.is_string() && one.get<std::string>() == name;
         });
}

// Each principal of a token has to find itself in its audience (RFC 7519, 4.1.3).
Result<void> check_purpose(const json& claims, const JwtRules& rules) {
  if (!rules.issuer.empty() && text_of(claims, "iss") != rules.issuer) {
    return refused("the token is of another issuer");
  }
  const auto audience = claims.find("aud");
  const bool is_for_us = audience == claims.end()
                             ? rules.audience.empty()
                             : !rules.audience.empty() && names(*audience, rules.audience);
  if (!is_for_us) return refused("the token is for another audience");
  return {};
}

std::vector<std::string> roles_of(const json& claims, const std::string& name) {
  std::vector<std::string> roles;
  const auto found = claims.find(name);
  if (found == claims.end()) return roles;
  if (found->is_array()) {
    for (const json& role : *found) {
      if (role.is_string()) roles.push_back(role.get<std::string>());
    }
  } else if (found->is_string()) {
    const auto text = found->get<std::string>();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end > begin) roles.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return roles;
}

}  // namespace

std::chrono::seconds system_unix_time() {
  return std::chrono::duration_cast<std::chrono::seconds>(time_of_day().time_since_epoch());
}

Result<JwtKeys> JwtKeys::parse(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return invalid("there is no key");
  const std::string_view rest = text.substr(begin);
  auto keys = rest.starts_with('{')         ? keys_of_set(rest)
              : rest.starts_with(pem_begin) ? keys_of_pem(rest)
                                            : key_of_secret(text);
  if (!keys) return keys.error();
  if (keys->empty()) return invalid("no key of the set verifies HS256, RS256, ES256 or EdDSA");
  return JwtKeys(*std::move(keys));
}

Result<Principal> JwtVerifier::verify(std::string_view token) const {
  const auto parts = parts_of(token);
  const auto header = parts ? decoded_object(parts->header) : std::nullopt;
  const auto signature = parts ? from_base64(parts->signature, Base64::url) : std::nullopt;
  if (!header || !signature) return malformed();
  // It would say that its reader has to understand something that this one does not (RFC 7515,
  // 4.1.11).
  if (header->contains("crit")) return malformed();
  const std::string algorithm = text_of(*header, "alg");
  const std::string id = text_of(*header, "kid");
  const auto has_signed = [&](const JwtKeys::Key& key) {
    const bool may_be_it = id.empty() || key.id.empty() || key.id == id;
    return may_be_it && algorithm == name_of(key.key.algorithm()) &&
           key.key.has_signed(parts->signed_text, *signature);
  };
  // No claim is read before this check.
  if (!std::ranges::any_of(keys_.all(), has_signed)) {
    return refused("the token is not signed by a key that is known here");
  }
  const auto claims = decoded_object(parts->claims);
  if (!claims) return malformed();
  if (auto timely = check_time(*claims, rules_); !timely) return timely.error();
  if (auto meant = check_purpose(*claims, rules_); !meant) return meant.error();
  Principal principal{.id = text_of(*claims, "sub"),
                      .roles = roles_of(*claims, rules_.roles_claim)};
  if (principal.id.empty() || principal.id.size() > subject_bytes_max) {
    return refused("the token names no subject, or one of more than " +
                   std::to_string(subject_bytes_max) + " bytes");
  }
  return principal;
}

}  // namespace corolane::rpc
