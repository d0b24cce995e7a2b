// SPDX-License-Identifier: MIT
// The tokens of the bots, as a node verifies them.
#include "tools/bots/token.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "coroutine/base/check.h"
#include "coroutine/testing/matchers.h"
#include "rpc/auth/jwt.h"

namespace corolane::tools::bots {
namespace {

using namespace std::chrono_literals;
using test::fails_with;

constexpr const char* secret = "the secret of a login service, long enough";

rpc::JwtVerifier verifier(const char* key) {
  auto keys = rpc::JwtKeys::parse(key);
  check(keys.has_value(), "this is a secret");
  return rpc::JwtVerifier(*std::move(keys), {.unix_time = [] { return 1'000'000s; }});
}

TEST(TokenTest, ANodeLearnsTheSubject) {
  const auto principal = verifier(secret).verify(make_token(secret, "run \"1\" white", 1'003'600s));
  ASSERT_TRUE(principal) << principal;
  EXPECT_EQ(principal->id, "run \"1\" white");
}

TEST(TokenTest, ATokenThatHasExpiredIsRefused) {
  EXPECT_THAT(verifier(secret).verify(make_token(secret, "anna", 999'000s)),
              fails_with(Code::unauthenticated));
}

TEST(TokenTest, ATokenOfAnotherSecretIsRefused) {
  EXPECT_THAT(verifier(secret).verify(make_token("another secret, as long", "anna", 1'003'600s)),
              fails_with(Code::unauthenticated));
}

}  // namespace
}  // namespace corolane::tools::bots
