// SPDX-License-Identifier: MIT
// Authentication: which calls pass, and with which principal.
#include "rpc/auth/authentication.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coroutine/testing/matchers.h"
#include "coroutine/testing/random.h"
#include "rpc/auth/signed_token.h"
#include "test/rpc/echo_service.h"

namespace corolane::test {
namespace {

using namespace std::chrono_literals;
using rpc::Principal;

const std::string token_key = "0123456789abcdef0123456789abcdef";

// Answers with the principal of the caller.
class WhoService : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest&, rpc::Context& context) override {
    EchoReply reply;
    reply.set_text(context.principal() == nullptr ? "nobody" : context.principal()->id);
    return reply;
  }
};

class AuthenticationTest : public testing::Test {
 protected:
  void serve(rpc::AuthenticationOptions options) {
    server_.add_filter(rpc::authenticate(std::move(options)));
    check(server_.add(service_).has_value() && server_.listen({"server", 1}).has_value(), "serves");
    auto client = rpc::Client::connect(network_, {"server", 1}, Deadline::after(1s));
    check(client.has_value(), "the client connects");
    client_ = std::move(*client);
  }
  Result<EchoReply> echo(std::string_view token) {
    return EchoClient(*client_).echo(make_echo(""), {.authorization = token});
  }
  // Takes any name as a token.
  static Result<Principal> by_name(std::string_view token, rpc::Context&) {
    if (token == "mallory") return Error(Code::unauthenticated, "mallory is not welcome");
    return Principal{.id = std::string(token), .roles = {token == "root" ? "admin" : "player"}};
  }

  sim::SimulatedNetwork network_;
  WhoService service_;
  rpc::Server server_{network_};
  std::unique_ptr<rpc::Client> client_;
};

TEST_F(AuthenticationTest, HandlerSeesThePrincipal) {
  serve({.verify = by_name});
  const auto reply = echo("alice");
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "alice");
}

TEST_F(AuthenticationTest, CallWithoutATokenOrWithABadOneDoesNotReachTheHandler) {
  serve({.verify = by_name});
  const auto without = echo("");
  EXPECT_THAT(without, fails_with(Code::unauthenticated));
  EXPECT_EQ(without.error().message(),
            "corolane.test.Echo/Echo needs a token: CallOptions::authorization");
  EXPECT_THAT(echo("mallory"), fails_with(Code::unauthenticated));
  EXPECT_THAT(echo(std::string(5000, 'x')), fails_with(Code::unauthenticated));
}

TEST_F(AuthenticationTest, RolesDecideWhichMethodsMayBeCalled) {
  serve({.verify = by_name, .authorize = rpc::needs_role({"admin", "operator"})});
  EXPECT_TRUE(echo("root"));
  const auto refused = echo("alice");
  EXPECT_THAT(refused, fails_with(Code::permission_denied));
  EXPECT_EQ(refused.error().message(), "alice has no role that may call corolane.test.Echo/Echo");
}

TEST_F(AuthenticationTest, ExemptMethodsNeedNoToken) {
  serve({.verify = by_name, .exempt = {"corolane.test.Echo/Echo", "corolane.test.Other/*"}});
  const auto reply = echo("");
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "nobody");
  EXPECT_TRUE(echo("mallory"));
  EXPECT_THAT(EchoClient(*client_).time_left(make_echo("")), fails_with(Code::unauthenticated));
}

TEST_F(AuthenticationTest, WholeServicesMayBeExempt) {
  serve({.verify = by_name, .exempt = {"corolane.test.Echo/*"}});
  EXPECT_TRUE(EchoClient(*client_).time_left(make_echo("")));
}

TEST_F(AuthenticationTest, VerifyMaySuspend) {
  serve({.verify = [](std::string_view token, rpc::Context& call) -> Result<Principal> {
    if (auto slept = coroutine::sleep_for(50ms); !slept) return slept.error();
    return by_name(token, call);
  }});
  EXPECT_TRUE(echo("alice"));
  EXPECT_THAT(EchoClient(*client_).echo(
                  make_echo(""), {.deadline = Deadline::after(20ms), .authorization = "alice"}),
              fails_with(Code::deadline_exceeded));
}

// Logs in any name, as another process would.
class LoginService : public EchoService {
 public:
  Result<EchoReply> echo(const EchoRequest& request, rpc::Context&) override {
    EchoReply reply;
    reply.set_text(signer_.sign({.id = request.text(), .roles = {"player"}}, 1h));
    return reply;
  }

 private:
  rpc::TokenSigner signer_{token_key};
};

TEST_F(AuthenticationTest, TokenOfALoginServiceOpensTheOthers) {
  LoginService logins;
  rpc::Server login_server(network_);
  ASSERT_TRUE(login_server.add(logins));
  ASSERT_TRUE(login_server.listen({"login", 2}));
  const auto to_login = rpc::Client::connect(network_, {"login", 2}, Deadline::after(1s));
  ASSERT_TRUE(to_login);
  const rpc::TokenVerifier verifier({token_key});
  serve({.verify = verifier.function(), .authorize = rpc::needs_role({"player"})});

  const auto token = EchoClient(**to_login).echo(make_echo("alice"));
  ASSERT_TRUE(token);
  const auto reply = echo(token->text());
  ASSERT_TRUE(reply) << reply;
  EXPECT_EQ(reply->text(), "alice");
}

class SignedTokenTest : public testing::Test {
 protected:
  rpc::UnixTime time() {
    return [this] { return time_; };
  }

  std::chrono::seconds time_{1'800'000'000};
  rpc::TokenSigner signer_{token_key, time()};
  rpc::TokenVerifier verifier_{{token_key}, time()};
  Principal alice_{.id = "alice", .roles = {"player", "admin"}};
};

TEST_F(SignedTokenTest, IdentifiesAPrincipalUntilItExpires) {
  const std::string token = signer_.sign(alice_, 60s);
  EXPECT_EQ(verifier_.verify(token), alice_);
  time_ += 59s;
  EXPECT_EQ(verifier_.verify(token), alice_);
  time_ += 1s;
  const auto expired = verifier_.verify(token);
  EXPECT_THAT(expired, fails_with(Code::unauthenticated));
  EXPECT_EQ(expired.error().message(), "the token has expired; log in again");
}

TEST_F(SignedTokenTest, NoOtherTextIsValid) {
  const std::string token = signer_.sign(alice_, 60s);
  for (std::size_t i = 0; i < token.size(); ++i) {
    for (const char c : {'A', 'B', '.', '-', ' ', '='}) {
      std::string changed = token;
      if (changed[i] == c) continue;
      changed[i] = c;
      EXPECT_FALSE(verifier_.verify(changed)) << i << c;
    }
    EXPECT_FALSE(verifier_.verify(token.substr(0, i))) << i;
    EXPECT_FALSE(verifier_.verify(token.substr(i + 1))) << i;
  }
  for (const char* text : {"", ".", "..", "1.", "1..", "1.a.b", "2.AAAA.AAAA"}) {
    EXPECT_THAT(verifier_.verify(text), fails_with(Code::unauthenticated)) << text;
  }
  EXPECT_FALSE(verifier_.verify(token + "="));
  EXPECT_FALSE(verifier_.verify(token + "A"));
}

TEST_F(SignedTokenTest, EveryLengthIsReadBack) {
  for (std::size_t size = 0; size < 70; ++size) {
    const Principal principal{.id = std::string(size, 'x')};
    EXPECT_EQ(verifier_.verify(signer_.sign(principal, 1s)), principal);
  }
}

TEST_F(SignedTokenTest, ATokenOfAnotherClusterIsNotValidHere) {
  const rpc::TokenSigner stranger(std::string(32, 'x'), time());
  const auto verified = verifier_.verify(stranger.sign(alice_, 60s));
  EXPECT_THAT(verified, fails_with(Code::unauthenticated));
  EXPECT_EQ(verified.error().message(), "the token is not signed by a key that is known here");
}

TEST_F(SignedTokenTest, DuringAKeyRotationBothKeysAreValid) {
  const std::string new_key(32, 'n');
  const rpc::TokenVerifier both({new_key, token_key}, time());
  EXPECT_TRUE(both.verify(signer_.sign(alice_, 60s)));
  EXPECT_TRUE(both.verify(rpc::TokenSigner(new_key, time()).sign(alice_, 60s)));
}

// Other languages can verify tokens: the example was computed with Python's hmac and base64.
TEST_F(SignedTokenTest, FormatIsTheDocumentedOne) {
  EXPECT_EQ(signer_.sign({.id = "alice", .roles = {"player"}}, 60s),
            "1.CgVhbGljZRIGcGxheWVyGLykp9oG"
            ".8lJ0QD0OvwGuOIroOtwlMwxhldbS5ZldUPCVxQErrIQ");
}

using SignedTokenDeathTest = SignedTokenTest;

TEST_F(SignedTokenDeathTest, ShortKeysAreABug) {
  EXPECT_DEATH(rpc::TokenSigner("short"), "the key of tokens has at least 32 bytes");
}

}  // namespace
}  // namespace corolane::test
