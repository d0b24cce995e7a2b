// SPDX-License-Identifier: MIT
// JSON Web Tokens that another implementation has signed: test/data/jwt/README.md.
#include "rpc/auth/jwt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coroutine/base/check.h"
#include "coroutine/base/encoding.h"
#include "coroutine/testing/matchers.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using rpc::JwtKeys;
using rpc::JwtRules;
using rpc::JwtVerifier;
using rpc::Principal;

class JwtTest : public testing::Test {
 protected:
  static json read() {
    std::ifstream file("test/data/jwt/tokens.json");
    check(file.is_open(), "the tests run in the folder of the project");
    return json::parse(file);
  }

  static JwtKeys keys(const std::string& text) {
    auto keys = JwtKeys::parse(text);
    check(keys.has_value(), "these are keys");
    return *std::move(keys);
  }
  JwtVerifier verifier(const std::string& keys_text) {
    return JwtVerifier(keys(keys_text), rules_);
  }
  std::string text(const char* name) const { return data_[name].get<std::string>(); }
  std::string accepted(std::size_t index) const {
    return data_["accepted"][index]["token"].get<std::string>();
  }

  const json data_ = read();
  const Principal player_{.id = "player-17", .roles = {"player", "admin"}};
  std::chrono::seconds time_{data_["now"].get<std::int64_t>()};
  JwtRules rules_{.issuer = text("issuer"), .audience = text("audience"), .unix_time = [this] {
                    return time_;
                  }};
};

TEST_F(JwtTest, TokensOfAllAlgorithmsAreVerified) {
  const JwtVerifier verifier = this->verifier(data_["keys"].dump());
  ASSERT_GE(data_["accepted"].size(), 14u);
  for (const json& one : data_["accepted"]) {
    const auto principal = verifier.verify(one["token"].get<std::string>());
    ASSERT_TRUE(principal) << one["name"] << ": " << principal.error().message();
    EXPECT_EQ(*principal, player_) << one["name"];
  }
}

TEST_F(JwtTest, OtherTokensAreRefusedAndTheErrorSaysWhy) {
  const JwtVerifier verifier = this->verifier(data_["keys"].dump());
  ASSERT_GE(data_["refused"].size(), 40u);
  for (const json& one : data_["refused"]) {
    const auto principal = verifier.verify(one["token"].get<std::string>());
    ASSERT_FALSE(principal) << one["name"];
    EXPECT_EQ(principal.error().code(), Code::unauthenticated) << one["name"];
    EXPECT_EQ(principal.error().message(), one["error"].get<std::string>()) << one["name"];
  }
}

TEST_F(JwtTest, NoOtherTextIsAToken) {
  const JwtVerifier verifier = this->verifier(data_["keys"].dump());
  for (std::size_t kind = 0; kind < 8; kind += 2) {
    const std::string token = accepted(kind);
    for (std::size_t i = 0; i < token.size(); ++i) {
      std::string changed = token;
      changed[i] = token[i] == 'A' ? 'B' : 'A';
      EXPECT_FALSE(verifier.verify(changed)) << kind << " at " << i;
    }
    for (std::size_t size = 0; size < token.size(); size += 7) {
      EXPECT_FALSE(verifier.verify(token.substr(0, size))) << kind << " of " << size;
    }
  }
}

TEST_F(JwtTest, TokenExpires) {
  const JwtVerifier verifier = this->verifier(data_["keys"].dump());
  const std::string token = accepted(0);
  time_ += 60s + rules_.leeway - 1s;
  EXPECT_TRUE(verifier.verify(token));
  time_ += 1s;
  EXPECT_THAT(verifier.verify(token), fails_with(Code::unauthenticated));
}

TEST_F(JwtTest, KeysInPemVerifyTokensThatNameAKeyOrNone) {
  const JwtVerifier verifier = this->verifier("\n" + text("pem"));
  EXPECT_FALSE(verifier.verify(accepted(0))) << "HS256";
  for (std::size_t index = 2; index < 8; ++index) {
    EXPECT_EQ(verifier.verify(accepted(index)), player_) << data_["accepted"][index]["name"];
  }
}

TEST_F(JwtTest, SecretVerifiesHs256Alone) {
  const JwtVerifier verifier = this->verifier(from_base64(text("secret")).value() + "\r\n");
  EXPECT_EQ(verifier.verify(accepted(0)), player_);
  EXPECT_FALSE(verifier.verify(accepted(2))) << "RS256";
}

TEST_F(JwtTest, IssuerAndAudienceNeedNotBeAskedFor) {
  rules_.issuer.clear();
  EXPECT_TRUE(verifier(data_["keys"].dump()).verify(accepted(0)));
  rules_.audience.clear();
  const auto principal = verifier(data_["keys"].dump()).verify(accepted(0));
  ASSERT_FALSE(principal) << "a token with an audience is for that one";
  EXPECT_EQ(principal.error().message(), "the token is for another audience");
}

TEST_F(JwtTest, RolesAreReadFromTheClaimThatTheRulesName) {
  rules_.roles_claim = "sub";
  EXPECT_EQ(verifier(data_["keys"].dump()).verify(accepted(0))->roles,
            std::vector<std::string>{"player-17"});
  rules_.roles_claim = "groups";
  EXPECT_TRUE(verifier(data_["keys"].dump()).verify(accepted(0))->roles.empty());
}

TEST_F(JwtTest, KeysAreReplacedInARotation) {
  JwtVerifier verifier = this->verifier(std::string(32, 'x'));
  EXPECT_FALSE(verifier.verify(accepted(0)));
  verifier.set_keys(keys(data_["keys"].dump()));
  EXPECT_TRUE(verifier.verify(accepted(0)));
}

TEST_F(JwtTest, KeysThatVerifyNothingAreRefusedByName) {
  const auto why = [](const std::string& text) {
    const auto keys = JwtKeys::parse(text);
    return keys ? "accepted" : keys.error().message();
  };
  EXPECT_EQ(why(" \n"), "there is no key");
  EXPECT_EQ(why("too short for a secret"),
            "a secret of 22 bytes is too short: take 32 or more, from a random source");
  EXPECT_EQ(why("{\"kty\": \"oct\"}"), "not a JSON Web Key Set: {\"keys\": [...]}");
  EXPECT_EQ(why("{\"keys\": [1]}"), "a key of the set is no object");
  EXPECT_EQ(why("{\"keys\": []}"), "no key of the set verifies HS256, RS256, ES256 or EdDSA");
  EXPECT_EQ(why("{\"keys\": [{\"kty\": \"future\"}]}"),
            "no key of the set verifies HS256, RS256, ES256 or EdDSA");
  EXPECT_EQ(
      why("{\"keys\": [{\"kty\": \"OKP\", \"crv\": \"Ed25519\", \"kid\": \"a\", \"x\": \"AA\"}]}"),
      "key \"a\": a key of Ed25519 has 32 bytes");
  // No point of the curve.
  const std::string number = to_base64(std::string(32, 'x'), Base64::url);
  EXPECT_EQ(why(R"({"keys": [{"kty": "EC", "crv": "P-256", "x": ")" + number + R"(", "y": ")" +
                number + "\"}]}"),
            "key \"\": not a public key");
  EXPECT_EQ(why("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
            "key 1: not a public key in PEM");
  EXPECT_EQ(why(text("weak_pem")), "key 1: an RSA key of 1024 bits: take one of 2048 to 16384");
  EXPECT_EQ(why(text("other_curve_pem")),
            "key 1: a public key of another kind than RSA, P-256 and Ed25519");
}

}  // namespace
}  // namespace corolane::test
