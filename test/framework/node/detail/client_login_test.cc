// SPDX-License-Identifier: MIT
#include "framework/node/detail/client_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "coroutine/testing/temporary_folder.h"

namespace corolane::framework::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// From test/data/jwt/tokens.json: a set of keys, and a token of player-17 that one of them signs.
constexpr std::string_view keys = R"({"keys": [{"kty": "oct", "kid": "shared", )"
                                  R"("k": "KCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4_QEFCQ0RFRkdISUpLTE1OTw)"
                                  R"("}]})";
constexpr std::string_view token =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InNoYXJlZCJ9.eyJpc3MiOiJodHRwczovL2xvZ2luLmV"
    "4YW1wbGUiLCJhdWQiOiJjaGVzcyIsInN1YiI6InBsYXllci0xNyIsImV4cCI6MTgwMDAwMDA2MCwicm9sZXMiOls"
    "icGxheWVyIiwiYWRtaW4iXX0.eKNvxKPeoV16CRRjqmbrD_zDMI5Vzx0JIg7xNKs36lE";
constexpr WallTime valid_at{std::chrono::seconds(1800000000)};

class ClientLoginTest : public testing::Test {
 protected:
  ClientLoginTest() {
    config_.jwt_issuer = "https://login.example";
    config_.jwt_audience = "chess";
  }

  // Makes the login anew.
  Result<void> open() {
    login_.emplace(config_, program_, WallClock(valid_at));
    return login_->open();
  }
  void use_keys(std::string_view text) {
    config_.jwt_keys_file = folder_.path() / "keys";
    std::ofstream(config_.jwt_keys_file) << text;
  }
  // Null when the client is let in.
  std::optional<Code> refusal(std::string_view shown, std::string_view identity = {}) const {
    const auto principal =
        login_->principal_of(shown, {.address = "10.0.0.1:5", .identity = identity});
    if (principal) return std::nullopt;
    return principal.error().code();
  }
  std::string id(std::string_view shown, std::string_view identity = {}) const {
    const auto principal =
        login_->principal_of(shown, {.address = "10.0.0.1:5", .identity = identity});
    EXPECT_TRUE(principal) << principal.error();
    return principal ? principal->id : "";
  }

  test::TemporaryFolder folder_;
  LoginConfig config_;
  rpc::Login program_;
  std::optional<ClientLogin> login_;
};

TEST_F(ClientLoginTest, WithoutAnyProofAndNotAnonymousNothingOpens) {
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::failed_precondition);
  EXPECT_THAT(opened.error().message(), HasSubstr("set anonymous: true"));
}

TEST_F(ClientLoginTest, AnonymousClientsAreServedOnlyWhenTheConfigurationSaysSo) {
  config_.anonymous = true;
  ASSERT_TRUE(open());
  EXPECT_EQ(id(""), "");
  EXPECT_EQ(refusal("a token"), Code::unauthenticated) << "a token is not ignored";
}

// The threads of shards read it while a reload writes to the configuration of the node.
TEST_F(ClientLoginTest, ItKeepsTheConfigurationThatItWasMadeWith) {
  config_.anonymous = true;
  ASSERT_TRUE(open());
  config_.anonymous = false;
  EXPECT_EQ(id(""), "");
}

TEST_F(ClientLoginTest, ASignedTokenNamesThePrincipal) {
  use_keys(keys);
  ASSERT_TRUE(open());
  EXPECT_EQ(id(token), "player-17");
  EXPECT_EQ(refusal(""), Code::unauthenticated);
  std::string forged(token);
  forged[forged.size() / 2] ^= 1;
  EXPECT_EQ(refusal(forged), Code::unauthenticated);
  EXPECT_EQ(refusal("", "player-3"), Code::unauthenticated) << "certificates are not asked for";
  config_.anonymous = true;
  ASSERT_TRUE(open());
  EXPECT_EQ(id(""), "");
  EXPECT_EQ(refusal(forged), Code::unauthenticated) << "a forged token is not anonymous";
}

TEST_F(ClientLoginTest, ATokenExpiresByTheClockOfTheNode) {
  use_keys(keys);
  ClientLogin later(config_, program_, WallClock(valid_at + 1h));
  ASSERT_TRUE(later.open());
  const auto principal = later.principal_of(token, {.address = "10.0.0.1:5"});
  ASSERT_FALSE(principal);
  EXPECT_EQ(principal.error().code(), Code::unauthenticated);
}

TEST_F(ClientLoginTest, ACertificateNamesThePrincipalUnlessThereIsAToken) {
  use_keys(keys);
  config_.certificate = true;
  ASSERT_TRUE(open());
  EXPECT_EQ(id("", "player-3"), "player-3");
  EXPECT_EQ(id(token, "player-3"), "player-17");
  EXPECT_EQ(refusal(""), Code::unauthenticated);
}

TEST_F(ClientLoginTest, TheProgramsLoginDecidesAlone) {
  program_ = [](std::string_view shown, const rpc::LoginPeer&) -> Result<rpc::Principal> {
    if (shown == "wrong") return Error(Code::permission_denied, "banned");
    return rpc::Principal{.id = std::string(shown)};
  };
  ASSERT_TRUE(open());
  EXPECT_EQ(id("player-5"), "player-5");
  EXPECT_EQ(refusal("wrong"), Code::permission_denied);
  EXPECT_EQ(refusal(""), Code::unauthenticated) << "anonymous is for the configuration to allow";
  use_keys(keys);
  const auto opened = open();
  ASSERT_FALSE(opened) << "two deciders";
  EXPECT_THAT(opened.error().message(), HasSubstr("remove jwt_keys_file"));
}

TEST_F(ClientLoginTest, AReloadReadsTheKeysAgainOrChangesNothing) {
  use_keys(keys);
  ASSERT_TRUE(open());
  use_keys("{\"keys\": []}");
  const auto refused = login_->prepare_change();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("node.clients.login.jwt_keys_file"));
  EXPECT_EQ(id(token), "player-17");

  use_keys("another secret that signs tokens from now on");
  ASSERT_TRUE(login_->prepare_change());
  EXPECT_EQ(id(token), "player-17") << "nothing changes in the first step";
  login_->change();
  EXPECT_EQ(refusal(token), Code::unauthenticated);
}

TEST_F(ClientLoginTest, KeysThatCannotBeReadAreNamed) {
  config_.jwt_keys_file = folder_.path() / "none";
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message(), HasSubstr("node.clients.login.jwt_keys_file: "));
  EXPECT_THAT(opened.error().message(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace corolane::framework::detail
